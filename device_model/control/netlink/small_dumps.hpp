// Contexts, and identifiers of rdma_cm: all of a device, or one by its number. They are in no table of a
// context.
#pragma once

#include <memory>

#include "device_model/control/netlink/request.hpp"

namespace urnic::control::netlink {

// `device` outlives what these functions return.
std::unique_ptr<Dump> make_context_dump(const Subjects& subjects, const ServedDevice& device,
                                        const Request& request);
// Only where rdma_cm is served.
std::unique_ptr<Dump> make_identifier_dump(const Subjects& subjects, const ServedDevice& device,
                                           const Request& request);
std::unique_ptr<Dump> search_for_context(const Subjects& subjects, const ServedDevice& device,
                                         const Request& request, std::uint32_t number);
std::unique_ptr<Dump> search_for_identifier(const Subjects& subjects, const ServedDevice& device,
                                            const Request& request, std::uint32_t number);

}  // namespace urnic::control::netlink
