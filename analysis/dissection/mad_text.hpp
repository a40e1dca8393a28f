// Management datagrams in words.
#pragma once

#include <cstddef>
#include <span>
#include <string>

namespace urnic::analysis {

// "SubnGet(NodeInfo) TID=0x7"; of a directed route also its ports, how far it has come, and which way:
// "SubnGet(NodeInfo) Path=1,3 Hop=1/2 TID=0x7"; of a message of several datagrams which part it is:
// "SubnAdmGetTableResp(PathRecord) RMPP=DATA,2 TID=0x7". Empty: `mad` is no right one.
std::string mad_text(std::span<const std::byte> mad);

}  // namespace urnic::analysis
