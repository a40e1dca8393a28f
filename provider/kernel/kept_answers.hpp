// Answers about rdma_cm identifiers that came with an event (device_model/abi/rdma_cm_messages.hpp). What is
// kept here need not be asked.
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "device_model/abi/rdma_cm_messages.hpp"

namespace urnic::kernel {

// What a command asks of an identifier.
struct Question {
  uint64_t channel;  // socket_cookie
  uint32_t identifier;
  uint16_t command;
  uint16_t selector;
};

struct KeptAnswer {
  size_t length;
  unsigned char bytes[abi::kMaxFurtherAnswer];
};

// The page on which the device process tells what has changed; closes the descriptor. Until it is known, and
// if it cannot be mapped, nothing is kept.
void use_identifier_changes(int descriptor);

// Keeps what came with an event of the channel: `length` bytes that begin with abi::FurtherAnswers. Any
// thread, also a signal handler; drops it where another thread is at work.
void keep_answers(uint64_t channel, const void* further, size_t length);

// Whether an event that came with its token still is whoever's who has taken that: `withdrawals` is the
// token's. False: the device process has to be asked.
bool is_nothing_withdrawn(uint32_t withdrawals);

// Whether the command, which the question names, needs no answer, this once.
bool take_consent(const Question& question);

// False: the device process has to be asked.
bool find_kept_answer(const Question& question, KeptAnswer& answer);

}  // namespace urnic::kernel
