// The setting `ibsim_net`: a file that has the devices and the fabric, in the format of ibsim.
#pragma once

#include <optional>
#include <string>

#include "device_model/control/fabric/configuration.hpp"
#include "device_model/settings/table_reader.hpp"
#include "device_model/subnet/ibsim_net.hpp"

namespace urnic::control {

struct NetFileSetting {
  std::string file;  // its path
  subnet::NetFile net;
};

// Empty: the setting is not there. Throws SettingError, which names the line of that file or of `file`.
std::optional<NetFileSetting> read_net_file(const settings::TableReader& root, const std::string& file);

// A device for each of the first adapters, as many as there can be; the others are nodes only.
void read_net_devices(const NetFileSetting& setting, const settings::TableReader& root,
                      const std::string& file, Configuration& configuration);

// The fabric, once the devices are there, with what the section [fabric] says beside.
void plan_net(const NetFileSetting& setting, const settings::TableReader& root, const std::string& file,
              Configuration& configuration);

}  // namespace urnic::control
