#include "device_model/control/netlink/small_dumps.hpp"

#include <cerrno>
#include <functional>
#include <utility>
#include <vector>

#include "device_model/control/netlink/object_dump.hpp"

namespace urnic::control::netlink {
namespace {

void put_context(DatagramWriter& datagram, const Context& context) {
  datagram.put(RDMA_NLDEV_ATTR_RES_CTXN, context.id);
  put_process(datagram, context);
}

// Contexts are in no table; this dump has one entry for each.
class ContextDump final : public Dump {
 public:
  ContextDump(const Subjects& subjects, const ServedDevice& device, const Request& request)
      : device_(device), type_(request.type), question_(request.question) {
    for (const auto& context : subjects.contexts.in_service(device)) contexts_.push_back(context);
  }

  bool write(DatagramWriter& datagram) override {
    if (contexts_.empty()) return false;
    const auto message = datagram.begin_message(question_, type_, NLM_F_MULTI);
    put_device_name(datagram, device_);
    const auto table = datagram.begin_table(RDMA_NLDEV_ATTR_RES_CTX);
    while (!contexts_.empty() && put_entry(datagram)) contexts_.pop_back();
    datagram.end_table(table);
    datagram.end_message(message);
    return !contexts_.empty();
  }

 private:
  // False: there is no room.
  bool put_entry(DatagramWriter& datagram) {
    const auto context = contexts_.back().lock();
    if (context == nullptr) return true;
    const auto entry = datagram.begin_table(RDMA_NLDEV_ATTR_RES_CTX_ENTRY);
    put_context(datagram, *context);
    const bool has_room = datagram.fits();
    if (has_room)
      datagram.end_table(entry);
    else
      datagram.cut_back(entry);
    return has_room;
  }

  const ServedDevice& device_;
  const std::uint16_t type_;
  const Question question_;
  std::vector<std::weak_ptr<Context>> contexts_;  // still to come
};

void put_address(DatagramWriter& datagram, std::uint16_t type, const sockaddr_storage& address) {
  if (address.ss_family != AF_UNSPEC) datagram.put_bytes(type, std::as_bytes(std::span(&address, 1)));
}

void put_identifier(DatagramWriter& datagram, const CmIdentifier& identifier) {
  datagram.put(RDMA_NLDEV_ATTR_PORT_INDEX, limits::kPorts);
  if (identifier.qpn != 0) {
    datagram.put(RDMA_NLDEV_ATTR_RES_LQPN, identifier.qpn);
    datagram.put(RDMA_NLDEV_ATTR_RES_TYPE, identifier.qp_type);
  }
  datagram.put(RDMA_NLDEV_ATTR_RES_PS, identifier.port_space);
  datagram.put(RDMA_NLDEV_ATTR_RES_STATE, identifier.state);
  put_address(datagram, RDMA_NLDEV_ATTR_RES_SRC_ADDR, identifier.source);
  put_address(datagram, RDMA_NLDEV_ATTR_RES_DST_ADDR, identifier.destination);
  datagram.put(RDMA_NLDEV_ATTR_RES_CM_IDN, identifier.number);
  if (identifier.pid > 0) datagram.put(RDMA_NLDEV_ATTR_RES_PID, static_cast<std::uint32_t>(identifier.pid));
}

class CmIdentifierDump final : public Dump {
 public:
  CmIdentifierDump(const Subjects& subjects, const ServedDevice& device, const Request& request)
      : source_(*subjects.cm_identifiers),
        device_(device),
        type_(request.type),
        question_(request.question) {}

  bool write(DatagramWriter& datagram) override {
    std::vector<CmIdentifier> page;
    source_.list(device_, next_, kPage, page);
    if (page.empty()) return false;
    const auto message = datagram.begin_message(question_, type_, NLM_F_MULTI);
    put_device_name(datagram, device_);
    const auto table = datagram.begin_table(RDMA_NLDEV_ATTR_RES_CM_ID);
    for (const CmIdentifier& identifier : page) {
      const auto entry = datagram.begin_table(RDMA_NLDEV_ATTR_RES_CM_ID_ENTRY);
      put_identifier(datagram, identifier);
      if (!datagram.fits()) {
        datagram.cut_back(entry);
        break;
      }
      datagram.end_table(entry);
      next_ = identifier.number + 1;
    }
    datagram.end_table(table);
    datagram.end_message(message);
    return true;
  }

 private:
  static constexpr std::size_t kPage = 16;

  const CmIdentifierSource& source_;
  const ServedDevice& device_;
  const std::uint16_t type_;
  const Question question_;
  std::uint32_t next_ = 0;
};

// One context or identifier of rdma_cm by its number. These are found in one portion.
class SmallSearch final : public Dump {
 public:
  // `put`: puts the object's attributes, and returns whether there is such an object.
  using Put = std::function<bool(DatagramWriter&)>;
  SmallSearch(const ServedDevice& device, const Request& request, Put put)
      : device_(device), type_(request.type), question_(request.question), put_(std::move(put)) {}

  bool write(DatagramWriter& datagram) override {
    const auto message = datagram.begin_message(question_, type_, 0);
    put_device_name(datagram, device_);
    found_ = put_(datagram);
    if (found_)
      datagram.end_message(message);
    else
      datagram.cut_back(message);
    return false;
  }
  std::optional<int> result() const override { return found_ ? 0 : ENOENT; }

 private:
  const ServedDevice& device_;
  const std::uint16_t type_;
  const Question question_;
  const Put put_;
  bool found_ = false;
};

}  // namespace

std::unique_ptr<Dump> make_context_dump(const Subjects& subjects, const ServedDevice& device,
                                        const Request& request) {
  return std::make_unique<ContextDump>(subjects, device, request);
}

std::unique_ptr<Dump> make_identifier_dump(const Subjects& subjects, const ServedDevice& device,
                                           const Request& request) {
  return std::make_unique<CmIdentifierDump>(subjects, device, request);
}

std::unique_ptr<Dump> search_for_context(const Subjects& subjects, const ServedDevice& device,
                                         const Request& request, std::uint32_t number) {
  return std::make_unique<SmallSearch>(
      device, request, [&contexts = subjects.contexts, &device, number](DatagramWriter& datagram) {
        for (const auto& context : contexts.in_service(device)) {
          if (context->id != number) continue;
          put_context(datagram, *context);
          return true;
        }
        return false;
      });
}

std::unique_ptr<Dump> search_for_identifier(const Subjects& subjects, const ServedDevice& device,
                                            const Request& request, std::uint32_t number) {
  return std::make_unique<SmallSearch>(
      device, request, [source = subjects.cm_identifiers, &device, number](DatagramWriter& datagram) {
        std::vector<CmIdentifier> found;
        if (source != nullptr) source->list(device, number, 1, found);
        if (found.empty() || found.front().number != number) return false;
        put_identifier(datagram, found.front());
        return true;
      });
}

}  // namespace urnic::control::netlink
