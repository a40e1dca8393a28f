// The counters in Prometheus's text format (exposition format 0.0.4).
#pragma once

#include <string>

#include "web/server/overview.hpp"

namespace urnic::web {

inline constexpr const char* kMetricsType = "text/plain; version=0.0.4; charset=utf-8";

// Names are the kernel's, as docs/counters.md has them, behind "urnic_" and with "_total"; each with the
// labels device and, of links, direction. docs/live-page.md lists the others.
std::string metrics(const Sample& sample);

}  // namespace urnic::web
