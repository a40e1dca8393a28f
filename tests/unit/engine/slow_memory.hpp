// A program's memory that does not answer until the test lets it.
#pragma once

#include <cstring>
#include <optional>
#include <vector>

#include "device_model/in_process/in_process_memory.hpp"
#include "device_model/memory/waiting_memory.hpp"
#include "tests/unit/engine/program.hpp"

namespace urnic::engine::test {

class SlowMemory final : public memory::WaitingMemory {
 public:
  // Of all the program's bytes, under a key of its own.
  explicit SlowMemory(Program& program) : program_(program) {
    program.engine.execute([&] {
      program.engine.data_path().expect_waiting_memory();
      key = *program.device.memory_table().add_region(
          {.memory = this,
           .pd = program.pd,
           .address = program.address(0),
           .iova = program.address(0),
           .length = program.bytes.size(),
           .access = memory::access_local_write | memory::access_remote_write | memory::access_remote_read |
                     memory::access_remote_atomic | memory::access_placed_by_device});
    });
  }
  ~SlowMemory() override {
    program_.engine.execute([&] {
      program_.device.memory_table().remove_region(key);
      program_.engine.data_path().forget_memory(*this, program_.address(0), program_.bytes.size());
    });
  }

  abi::ScatterGather sge(std::size_t offset, std::uint32_t length) const {
    return {program_.address(offset), length, key.value};
  }

  bool idle() override { return !under_way_; }
  void begin_read(std::span<const memory::Transfer> batch) override { begin(Kind::read, batch); }
  void begin_write(std::span<const memory::Transfer> batch) override { begin(Kind::write, batch); }
  void begin_operation(const memory::WordOperation& operation) override {
    begin(Kind::operation, {});
    operation_ = operation;
  }
  bool end(std::span<memory::Transfer> batch) override {
    if (!answers) return false;
    under_way_ = false;
    switch (kind_) {
      case Kind::read:
        program_.memory.read(batch);
        break;
      case Kind::write:
        for (std::size_t i = 0; i < batch.size(); ++i) batch[i].local = bytes_[i];
        program_.memory.write(batch);
        break;
      case Kind::operation:
        operate(batch[0]);
        break;
    }
    ++jobs;
    return true;
  }
  const char* way() const override { return "slow"; }

  bool answers = false;
  std::uint32_t jobs = 0;
  transport::Lkey key;

 private:
  enum class Kind { read, write, operation };

  // What is written is copied, as a copier does: its place may be another's by the time of the answer.
  void begin(Kind kind, std::span<const memory::Transfer> batch) {
    BOOST_REQUIRE(!under_way_);
    BOOST_TEST(batch.size() <= kMaxPieces);
    under_way_ = true;
    kind_ = kind;
    bytes_.clear();
    if (kind != Kind::write) return;
    for (const memory::Transfer& piece : batch) bytes_.emplace_back(piece.local.begin(), piece.local.end());
  }

  void operate(memory::Transfer& piece) {
    std::uint64_t word = 0;
    memory::Transfer access{piece.address, std::as_writable_bytes(std::span{&word, 1}), false};
    program_.memory.read({&access, 1});
    std::memcpy(piece.local.data(), &word, sizeof word);
    if (operation_.compares && word != operation_.compare) return;
    word = operation_.compares ? operation_.swap_or_add : word + operation_.swap_or_add;
    program_.memory.write({&access, 1});
    piece.failed = access.failed;
  }

  Program& program_;
  bool under_way_ = false;
  Kind kind_ = Kind::read;
  memory::WordOperation operation_;
  std::vector<std::vector<std::byte>> bytes_;
};

}  // namespace urnic::engine::test
