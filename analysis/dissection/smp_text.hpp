// Subnet management datagrams in words.
#pragma once

#include <cstddef>
#include <span>
#include <string>

namespace urnic::analysis {

// "Get NodeInfo", "Set PortInfo Modifier=0x1"; of a directed route also its ports and how far it has come:
// "Get NodeInfo Path=1,3 Hop=2". Empty: `mad` is no right one.
std::string smp_text(std::span<const std::byte> mad);

}  // namespace urnic::analysis
