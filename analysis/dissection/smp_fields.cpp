// Subnet management datagrams (IBTA 14.2.1), behind the header of all datagrams.
#include <array>

#include "analysis/dissection/header_tables.hpp"

namespace urnic::analysis {
namespace {

using enum FieldKind;

constexpr std::array kLidRoutedFields{
    Field{"smplid.mkey", "M_Key", "infiniband.smplid.mkey", 0, 64, hexadecimal},
    Field{"smplid.reserved", "Reserved", "", 64, 256, bytes},
    Field{"smplid.smpdata", "Attribute", "infiniband.smplid.smpdata", 320, 512, bytes},
    Field{"smplid.rest", "Reserved", "", 832, 1024, bytes},
};

constexpr std::array kDirectedFields{
    Field{"smpdirected.mkey", "M_Key", "infiniband.smplid.mkey", 0, 64, hexadecimal},
    Field{"smpdirected.drslid", "LID where the directed route begins", "infiniband.smpdirected.drslid", 64,
          16, decimal},
    Field{"smpdirected.drdlid", "LID where the directed route ends", "infiniband.smpdirected.drdlid", 80, 16,
          decimal},
    Field{"smpdirected.reserved", "Reserved", "", 96, 224, bytes},
    Field{"smpdirected.smpdata", "Attribute", "infiniband.smplid.smpdata", 320, 512, bytes},
    Field{"smpdirected.initialpath", "Ports to leave by", "infiniband.smpdirected.initialpath", 832, 512,
          bytes},
    Field{"smpdirected.returnpath", "Ports that it came in by", "infiniband.smpdirected.returnpath", 1344,
          512, bytes},
};

}  // namespace

const Header kLidRoutedSmpHeader{"smplid", "Subnet management, LID routed", 232, kLidRoutedFields};
const Header kDirectedSmpHeader{"smpdirected", "Subnet management, directed route", 232, kDirectedFields};

}  // namespace urnic::analysis
