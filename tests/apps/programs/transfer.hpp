// One operation between two ends, with every byte checked: those that should change and those that should
// not.
#pragma once

#include <cstdint>
#include <ostream>
#include <string>
#include <vector>

#include "tests/apps/programs/endpoint.hpp"

namespace urnic::apps {

enum class Operation { send, send_with_immediate, write, write_with_immediate, read };

std::string to_string(Operation operation);
inline std::ostream& operator<<(std::ostream& out, Operation operation) {
  return out << to_string(operation);
}
inline bool takes_receive(Operation operation) {
  return operation != Operation::write && operation != Operation::read;
}
inline bool has_immediate(Operation operation) {
  return operation == Operation::send_with_immediate || operation == Operation::write_with_immediate;
}
ibv_wr_opcode request_opcode(Operation operation);
ibv_wc_opcode completion_opcode(Operation operation);

struct Transfer {
  Operation operation = Operation::write;
  std::size_t length = 0;
  std::size_t source_offset = 0;  // within the areas, behind their guard bytes
  std::size_t target_offset = 0;
  unsigned source_parts = 1;  // how many segments the data is gathered from or scattered to; where the
  unsigned target_parts = 1;  // operation has no segments at that end (RDMA) there is one part
  bool is_inline = false;
  std::uint64_t seed = 1;
};
std::string to_string(const Transfer& transfer);

// Memory of both ends and the checks on it.
class TransferBench {
 public:
  // For transfers of up to `max_length` bytes.
  TransferBench(Pair& pair, std::size_t max_length);

  // Does the operation from left to right (a read: from right to left's memory) and checks completions and
  // memory at both ends. Reports to the test framework.
  void run(const Transfer& transfer);

 private:
  struct Layout {
    std::vector<ibv_sge> segments;
    std::size_t begin;  // of the part of the area that is filled and checked
    std::size_t end;
  };
  Layout lay_out(const Memory& memory, std::size_t offset, std::size_t length, unsigned parts) const;
  void fill_source(const Layout& layout, const Memory& memory, std::uint64_t seed);
  void check_target(const Layout& layout, const Memory& memory, const Transfer& transfer) const;
  void check_completions(const Transfer& transfer);

  Pair& pair_;
  Memory left_;
  Memory right_;
};

}  // namespace urnic::apps
