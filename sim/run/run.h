#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <vector>

#include "hw/common/trace.h"
#include "hw/isa/program.h"
#include "hw/machine/machine_config.h"
#include "hw/tpu/tpu.h"
#include "sim/baselines/baseline.h"
#include "sim/baselines/network.h"
#include "sim/energy/power_over_time.h"
#include "sim/occupancy/over_time.h"
#include "sim/run/buffers.h"
#include "sim/run/host.h"
#include "sim/run/pictures.h"
#include "sim/run/registers.h"
#include "sim/run/run_config.h"

/// A run: from files to a finished simulation.
namespace systole::run {

/// How long the simulator itself took, in seconds of this computer.
struct WallTimes {
    double prepare = 0.0;   ///< reading, quantizing, compiling
    double simulate = 0.0;  ///< the chip; not what is found and written when its run is over
    double total = 0.0;
};

/// A finished run: the chip, whose counters the report reads, and what is known besides.
struct Result {
    RunConfig config;
    machine::MachineConfig machine;
    std::unique_ptr<const isa::Program> program;
    std::unique_ptr<hw::Tpu> tpu;  ///< refers to the program
    std::vector<HostWork> host_work;
    std::optional<baselines::Baseline> host;
    std::vector<baselines::Baseline> baselines;
    std::optional<baselines::Network> network;  ///< what it asks of any processor; absent of a program
    std::optional<Outputs> outputs;  ///< absent in a timing-only run, and where the program has no output
    std::optional<double> accuracy;  ///< where there are labels
    std::optional<double> float_accuracy;           ///< where the float reference ran and there are labels
    std::optional<std::uint64_t> float_agreements;  ///< predictions that the float reference shares
    /// Where the run asks for them: what passed through the units, in the order in which it became known.
    std::vector<hw::InstructionTimes> instruction_times;
    std::optional<energy::PowerOverTime> power;     ///< where the run asks for it
    std::optional<occupancy::Occupancy> occupancy;  ///< what lay in the memories; with --out
    Pictures pictures;                              ///< some of the input with its predictions; with --out
    RegisterDump registers;                         ///< of the cycles that the run asks for
    std::vector<BufferContents> printed;            ///< the buffers that the run asks for
    std::vector<std::string> unfilled_buffers;      ///< input buffers that nothing filled: zeros
    WallTimes wall;
};

/// Instructions issued so far and in all.
using Progress = std::function<void(std::uint64_t issued, std::uint64_t total)>;

/// Carries out the run. Throws ConfigError, ModelError, ProgramError or InputError for what the user can
/// mend.
Result run(const RunConfig& config, const Progress& progress = {});

/// The program of a .tpu file or of assembly text: its first bytes say which. Throws ProgramError.
isa::Program read_program(const std::filesystem::path& path);

}  // namespace systole::run
