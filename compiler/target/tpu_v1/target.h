#pragma once

#include <string>

#include "compiler/mapping/options.h"
#include "compiler/schedule/target.h"
#include "hw/machine/machine_config.h"
#include "hw/machine/mapping.h"

namespace systole::tpu_v1 {

/// The target for a valid machine; no choices are made.
schedule::Target target_of(const machine::MachineConfig& machine, const machine::Mapping& mapping,
                           const mapping::HostCosts& host = {});

/// All of the machine on which the program of a network depends, besides the mapping and the host.
std::string key_of(const schedule::Target& target);

}  // namespace systole::tpu_v1
