// Service id resolution: which UD queue pair serves a service id (IBTA 12.11).
#pragma once

#include "wire/identifiers.hpp"
#include "wire/mad/cm_codes.hpp"
#include "wire/mad/cm_parts.hpp"
#include "wire/mad/service_id.hpp"

namespace urnic::wire::mad {

// Service id resolution request (IBTA 12.11.1).
struct SidrReq {
  static constexpr CmAttribute kAttribute = CmAttribute::sidr_req;
  SidrRequestId request_id;
  Pkey pkey;
  ServiceId service;
  PrivateData<216> private_data{};
  friend bool operator==(const SidrReq&, const SidrReq&) = default;
};

// Service id resolution response (IBTA 12.11.2). QPN and Q_Key count only with SidrStatus::ok.
struct SidrRep {
  static constexpr CmAttribute kAttribute = CmAttribute::sidr_rep;
  SidrRequestId request_id;
  SidrStatus status{};
  Qpn qpn;
  Ece ece;
  ServiceId service;
  Qkey qkey;
  AdditionalInformation information;
  PrivateData<136> private_data{};
  friend bool operator==(const SidrRep&, const SidrRep&) = default;
};

}  // namespace urnic::wire::mad
