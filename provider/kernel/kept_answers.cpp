#include "provider/kernel/kept_answers.hpp"

#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <atomic>
#include <cstring>

#include "provider/kept_errno.hpp"
#include "provider/kernel/real.hpp"

namespace urnic::kernel {

namespace {

// What came with one event; an identifier's next event takes its place, or that of another one.
struct Place {
  std::atomic<bool> busy;
  uint64_t channel;
  const abi::IdentifierChanges* page;  // null: nothing is kept
  abi::FurtherAnswers head;
  size_t length;  // of the answers
  unsigned char answers[abi::kMaxFurtherAnswers - sizeof(abi::FurtherAnswers)];
};
constexpr unsigned kPlaces = 32;
constinit Place places[kPlaces] = {};

// Neither locks nor waits. One that was busy in another thread during a fork stays busy in the child, which
// asks then.
class Taken {
 public:
  explicit Taken(Place& place)
      : place_(place), mine_(!place.busy.exchange(true, std::memory_order_acquire)) {}
  ~Taken() {
    if (mine_) place_.busy.store(false, std::memory_order_release);
  }
  Taken(const Taken&) = delete;
  Taken& operator=(const Taken&) = delete;

  explicit operator bool() const { return mine_; }

 private:
  Place& place_;
  bool mine_;
};

Place& place_of(uint32_t identifier) { return places[identifier % kPlaces]; }

// Of the device process that was reached last, with the number of its file. A page stays mapped: another
// thread may be reading it. A child of fork has it, too.
constinit std::atomic<const abi::IdentifierChanges*> changes = nullptr;
constinit std::atomic<ino_t> changes_file = 0;

// The next answer behind `at`. False: there are no more.
bool next_answer(const Place& place, size_t& at, abi::FurtherAnswer& head) {
  if (place.length - at < sizeof head) return false;
  std::memcpy(&head, place.answers + at, sizeof head);
  at += sizeof head;
  return head.length <= place.length - at;
}

// Where the answer begins, and its head. False: it is not kept, or it is out of date.
bool find_answer(const Place& place, const Question& question, size_t& at, abi::FurtherAnswer& head) {
  if (place.page == nullptr || place.page != changes.load() || place.channel != question.channel ||
      place.head.identifier != question.identifier ||
      place.page->of(question.identifier) != place.head.changes)
    return false;
  for (at = 0; next_answer(place, at, head); at += head.length) {
    if (head.command == question.command && head.selector == question.selector) return true;
  }
  return false;
}

}  // namespace

void use_identifier_changes(int descriptor) {
  const KeptErrno kept;
  struct stat status;
  if (descriptor < 0) return;
  if (real::fstat(descriptor, &status) == 0 && status.st_ino != changes_file.load()) {
    const void* const page =
        real::mmap(nullptr, abi::kIdentifierChangesBytes, PROT_READ, MAP_SHARED, descriptor, 0);
    if (page != MAP_FAILED) {
      changes.store(static_cast<const abi::IdentifierChanges*>(page));
      changes_file.store(status.st_ino);
    }
  }
  close(descriptor);
}

void keep_answers(uint64_t channel, const void* further, size_t length) {
  const abi::IdentifierChanges* const page = changes.load();
  abi::FurtherAnswers head;
  if (page == nullptr || length < sizeof head || length > abi::kMaxFurtherAnswers) return;
  std::memcpy(&head, further, sizeof head);
  Place& place = place_of(head.identifier);
  const Taken taken(place);
  if (!taken) return;
  place.channel = channel;
  place.page = page;
  place.head = head;
  place.length = length - sizeof head;
  std::memcpy(place.answers, static_cast<const unsigned char*>(further) + sizeof head, place.length);
}

bool is_nothing_withdrawn(uint32_t withdrawals) {
  const abi::IdentifierChanges* const page = changes.load();
  return page != nullptr && page->withdrawals.load() == withdrawals;
}

// The rest of what is kept is out of date as soon as the command arrives.
bool take_consent(const Question& question) {
  Place& place = place_of(question.identifier);
  const Taken taken(place);
  size_t at = 0;
  abi::FurtherAnswer head;
  if (!taken || !find_answer(place, question, at, head)) return false;
  place.page = nullptr;
  return true;
}

bool find_kept_answer(const Question& question, KeptAnswer& answer) {
  Place& place = place_of(question.identifier);
  const Taken taken(place);
  size_t at = 0;
  abi::FurtherAnswer head;
  if (!taken || !find_answer(place, question, at, head) || head.length > sizeof answer.bytes) return false;
  answer.length = head.length;
  std::memcpy(answer.bytes, place.answers + at, head.length);
  return true;
}

}  // namespace urnic::kernel
