// A frame for people: a tree of headers and fields, and one line.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "analysis/dissection/dissection.hpp"

namespace urnic::analysis {

// A line of the tree.
struct FieldText {
  const Field* field = nullptr;  // nullptr: computed from other fields, without bits of its own
  std::string label;
  std::string value;          // with its meaning
  std::size_t first_bit = 0;  // in the frame
  std::size_t width = 0;      // bits
};

struct HeaderText {
  const Header* header = nullptr;
  std::string title;  // with what matters most: "Base transport header: RC Send Only, PSN 5, QP 0x12"
  std::size_t offset = 0;
  std::size_t bytes = 0;
  std::vector<FieldText> fields;
};

std::vector<HeaderText> tree_of(const Dissection& dissection);

// Without addresses and time: "RC Acknowledge PSN=5 QP=0x12 MSN=3".
std::string summary(const Dissection& dissection);

// What a syndrome says: "ACK", "RNR NAK, wait 0.64 ms", "NAK, PSN sequence error".
std::string syndrome_text(std::uint8_t syndrome);

}  // namespace urnic::analysis
