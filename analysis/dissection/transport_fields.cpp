#include <array>

#include "analysis/dissection/frame_text.hpp"
#include "analysis/dissection/header_tables.hpp"
#include "wire/aeth.hpp"
#include "wire/opcode.hpp"
#include "wire/selective_ack_offer.hpp"

namespace urnic::analysis {
namespace {

std::string opcode_meaning(std::uint64_t value) {
  return wire::name(wire::Opcode{static_cast<std::uint8_t>(value)});
}

std::string pkey_meaning(std::uint64_t pkey) {
  if (pkey == 0xFFFF) return "default, full member";
  return (pkey & 0x8000) != 0 ? "full member" : "limited member";
}

std::string syndrome_meaning(std::uint64_t syndrome) {
  return syndrome_text(static_cast<std::uint8_t>(syndrome));
}

std::string kind_meaning(std::uint64_t kind) {
  constexpr std::array<const char*, 4> kMeanings{"ACK", "RNR NAK", "reserved", "NAK"};
  return kind < kMeanings.size() ? kMeanings[kind] : std::string{};
}

std::string signature_meaning(std::uint64_t signature) {
  return signature == wire::kOfferSignature ? "urnicSA, version 1" : "not urnic's";
}

using enum FieldKind;

constexpr std::array kBthFields{
    Field{"bth.opcode", "Opcode", "infiniband.bth.opcode", 0, 8, decimal, false, opcode_meaning},
    Field{"bth.se", "Solicited event", "infiniband.bth.se", 8, 1, flag},
    Field{"bth.migreq", "Migration request", "infiniband.bth.m", 9, 1, flag},
    Field{"bth.padcnt", "Pad count", "infiniband.bth.padcnt", 10, 2, decimal},
    Field{"bth.tver", "Transport header version", "infiniband.bth.tver", 12, 4, decimal},
    Field{"bth.pkey", "Partition key", "infiniband.bth.p_key", 16, 16, hexadecimal, false, pkey_meaning},
    Field{"bth.fecn", "Forward congestion notification", "", 32, 1, flag},
    Field{"bth.becn", "Backward congestion notification", "", 33, 1, flag},
    Field{"bth.reserved6", "Reserved", "", 34, 6, decimal},
    Field{"bth.destqp", "Destination QP", "infiniband.bth.destqp", 40, 24, hexadecimal},
    Field{"bth.ackreq", "Acknowledge request", "infiniband.bth.a", 64, 1, flag},
    Field{"bth.reserved7", "Reserved", "infiniband.bth.reserved7", 65, 7, decimal},
    Field{"bth.psn", "Packet sequence number", "infiniband.bth.psn", 72, 24, decimal},
};

constexpr std::array kDethFields{
    Field{"deth.qkey", "Queue key", "infiniband.deth.q_key", 0, 32, hexadecimal},
    Field{"deth.reserved", "Reserved", "", 32, 8, decimal},
    Field{"deth.srcqp", "Source QP", "infiniband.deth.srcqp", 40, 24, hexadecimal},
};

constexpr std::array kXrcethFields{
    Field{"xrceth.reserved", "Reserved", "", 0, 8, decimal},
    Field{"xrceth.srqn", "Shared receive queue", "", 8, 24, hexadecimal},
};

constexpr std::array kRethFields{
    Field{"reth.va", "Virtual address", "infiniband.reth.va", 0, 64, hexadecimal},
    Field{"reth.rkey", "Remote key", "infiniband.reth.r_key", 64, 32, hexadecimal},
    Field{"reth.dmalen", "DMA length", "infiniband.reth.dmalen", 96, 32, decimal},
};

// Wireshark names address and key as in the RETH.
constexpr std::array kAtomicEthFields{
    Field{"atomiceth.va", "Virtual address", "infiniband.reth.va", 0, 64, hexadecimal},
    Field{"atomiceth.rkey", "Remote key", "infiniband.reth.r_key", 64, 32, hexadecimal},
    Field{"atomiceth.swapdt", "Swap or add data", "infiniband.atomiceth.swapdt", 96, 64, decimal},
    Field{"atomiceth.cmpdt", "Compare data", "infiniband.atomiceth.cmpdt", 160, 64, decimal},
};

constexpr std::array kAethFields{
    Field{"aeth.syndrome", "Syndrome", "infiniband.aeth.syndrome", 0, 8, hexadecimal, false,
          syndrome_meaning},
    Field{"aeth.kind", "Kind", "infiniband.aeth.syndrome.opcode", 1, 2, decimal, true, kind_meaning},
    Field{"aeth.code", "Credits, timer or NAK code", "", 3, 5, decimal, true},
    Field{"aeth.msn", "Message sequence number", "infiniband.aeth.msn", 8, 24, decimal},
};

constexpr std::array kAtomicAckEthFields{
    Field{"atomicacketh.origremdt", "Original remote data", "infiniband.atomicacketh.origremdt", 0, 64,
          decimal},
};

constexpr std::array kImmediateFields{
    Field{"immdt", "Immediate data", "infiniband.immdt", 0, 32, hexadecimal},
};

constexpr std::array kIethFields{
    Field{"ieth.rkey", "Remote key to invalidate", "infiniband.ieth", 0, 32, hexadecimal},
};

constexpr std::array kCnpFields{
    Field{"cnp.reserved", "Reserved", "", 0, 128, bytes},
};

// In Wireshark by docs/wireshark/urnic.lua.
constexpr std::array kSelectiveAckFields{
    Field{"sack.reserved", "Reserved", "urnic.sack.reserved", 0, 8, hexadecimal},
    Field{"sack.latest", "Latest PSN that has arrived", "urnic.sack.latest", 8, 24, decimal},
    Field{"sack.earlier", "Earlier ones, latest - 1 first", "urnic.sack.earlier", 32, 64, hexadecimal},
};

constexpr std::array kSelectiveAckOfferFields{
    Field{"offer.flags", "Flags", "", 0, 8, hexadecimal},
    Field{"offer.wants_answer", "Wants an answer", "urnic.offer.wants_answer", 5, 1, flag, true},
    Field{"offer.gives", "Gives selective acknowledges", "urnic.offer.gives", 6, 1, flag, true},
    Field{"offer.reads", "Reads selective acknowledges", "urnic.offer.reads", 7, 1, flag, true},
    Field{"offer.reserved", "Reserved", "", 8, 24, decimal},
    Field{"offer.signature", "Signature", "", 32, 64, hexadecimal, false, signature_meaning},
};

constexpr std::array kPayloadFields{
    Field{"payload", "Payload", "infiniband.payload", 0, kToTheEnd, bytes},
};

constexpr std::array kPadFields{
    Field{"pad", "Pad", "", 0, kToTheEnd, bytes},
};

// Its least significant byte comes first. The number is, as in Wireshark 4.0, that of the bytes as they lie.
constexpr std::array kIcrcFields{
    Field{"icrc", "Invariant CRC", "infiniband.invariant.crc", 0, 32, hexadecimal},
};

}  // namespace

const Header kBthHeader{"bth", "Base transport header", 12, kBthFields};
const Header kDethHeader{"deth", "Datagram extended header", 8, kDethFields};
const Header kXrcethHeader{"xrceth", "XRC extended header", 4, kXrcethFields};
const Header kRethHeader{"reth", "RDMA extended header", 16, kRethFields};
const Header kAtomicEthHeader{"atomiceth", "Atomic extended header", 28, kAtomicEthFields};
const Header kAethHeader{"aeth", "ACK extended header", 4, kAethFields};
const Header kAtomicAckEthHeader{"atomicacketh", "Atomic ACK extended header", 8, kAtomicAckEthFields};
const Header kImmediateHeader{"immdt", "Immediate data", 4, kImmediateFields};
const Header kIethHeader{"ieth", "Invalidate extended header", 4, kIethFields};
const Header kCnpHeader{"cnp", "Congestion notification", 16, kCnpFields};
const Header kSelectiveAckHeader{"sack", "Selective acknowledge (urnic)", 12, kSelectiveAckFields};
const Header kSelectiveAckOfferHeader{"offer", "Offer of selective acknowledges (urnic)", 12,
                                      kSelectiveAckOfferFields};
const Header kPayloadHeader{"payload", "Payload", 0, kPayloadFields};
const Header kPadHeader{"pad", "Pad", 0, kPadFields};
const Header kIcrcHeader{"icrc", "Invariant CRC", 4, kIcrcFields};

}  // namespace urnic::analysis
