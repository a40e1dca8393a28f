// Prints the fields of every frame of a capture file for test_against_tshark.py: a line "FRAME WIRESHARK
// VALUE" for each field that Wireshark has, and with --names every name of Wireshark's that the tables give.
#include <cstdio>
#include <cstring>

#include "analysis/capture_files/capture_file.hpp"
#include "analysis/dissection/field_value.hpp"
#include "tests/unit/analysis/documented_field.hpp"

using urnic::analysis::test::documented;

using namespace urnic::analysis;

namespace {

void print_table() {
  for (const Header* header : all_headers()) {
    std::printf("| **%s** | | | |\n", header->title);
    for (const Field& field : header->fields) std::printf("%s\n", documented(field).c_str());
  }
}

}  // namespace

int main(int argc, char** argv) {
  if (argc == 2 && std::strcmp(argv[1], "--names") == 0) {
    for (const Header* header : all_headers())
      for (const Field& field : header->fields)
        if (*field.wireshark != '\0') std::printf("%s %s\n", field.name, field.wireshark);
    return 0;
  }
  if (argc == 2 && std::strcmp(argv[1], "--table") == 0) {
    print_table();
    return 0;
  }
  if (argc != 2) return 2;
  CaptureFile file(argv[1]);
  CapturedPacket packet;
  while (file.next(packet)) {
    const Dissection dissection = dissect(packet.bytes, packet.original_bytes, packet.link_layer);
    for (const PlacedHeader& header : dissection.headers()) {
      for (const Field& field : header.header->fields) {
        if (*field.wireshark == '\0') continue;
        const FieldValue value = read_value(place(header, field), packet.bytes);
        std::printf("%lu %s %s\n", static_cast<unsigned long>(packet.number), field.wireshark,
                    value_text(field, value).c_str());
      }
    }
  }
  return 0;
}
