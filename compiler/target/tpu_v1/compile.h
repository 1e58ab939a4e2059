#pragma once

#include "compiler/mapping/compiled.h"
#include "compiler/mapping/options.h"
#include "compiler/target/tpu_v1/network/network.h"
#include "hw/machine/machine_config.h"

namespace systole::tpu_v1 {

/// The program of a network, mapped as the options say. Throws ModelError if the network does not fit the
/// machine.
mapping::Compiled compile(const Network& network, const machine::MachineConfig& machine,
                          const mapping::Options& options);

}  // namespace systole::tpu_v1
