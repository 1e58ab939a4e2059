#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "compiler/ir/graph.h"
#include "hw/common/registers.h"
#include "hw/common/trace.h"
#include "hw/isa/program.h"
#include "hw/machine/machine_config.h"
#include "sim/run/images.h"
#include "sim/run/record/record.h"

/// Runs specs and returns their records.
namespace systole::run {

/// Observes a run in this process, in addition to its record.
class Observer {
public:
    virtual ~Observer() = default;
    /// Something about the run's input is probably not what was meant. The run goes on.
    virtual void warn(const std::string& message) = 0;
    /// The run is about to begin. Program and machine live until `finish` or `failed` has returned.
    virtual void begin(const isa::Program& program, const machine::MachineConfig& machine) = 0;
    /// The sink of a core's events, or null. Called after `begin`.
    virtual hw::TraceSink* trace(std::size_t core) = 0;
    /// The sink of the array's registers, or null.
    virtual hw::RegisterSink* registers() = 0;
    /// The run is over. Not called if it fails.
    virtual void finish(const RunRecord& record) = 0;
    /// The run has failed, perhaps before `begin`.
    virtual void failed() noexcept = 0;
};

/// The number of instructions issued so far, and of all.
using Progress = std::function<void(std::uint64_t issued, std::uint64_t total)>;

/// The inputs of a run besides the machine: files that have been read, and the compiled program.
struct Prepared {
    std::optional<ir::Graph> graph;  ///< absent of a program
    std::optional<NetworkWork> network;
    isa::Program program;
    bool of_arrays = false;      ///< network or program (sim/run/arrays.h)
    std::uint64_t examples = 0;  ///< of a step; see ProgramFacts
    std::uint64_t examples_of_core = 0;
    std::optional<machine::BatchFacts> batch;      ///< absent of a program
    std::optional<machine::CutImages> cut_images;  ///< absent where an image fits, and of a program
    std::vector<NamedImages> inputs;               ///< by input of the program; none if the run names none;
                                                   ///< of a timing-only run, without their values
    std::vector<std::uint32_t> labels;
    std::vector<std::string> label_names;  ///< of the classes
    std::vector<PixelScaling> pixel_scaling;
    std::vector<std::string> warnings;  ///< about input that is probably not what was meant
    double read_seconds = 0.0;          ///< that the file of the network or program took
};

/// The key under which another run can use the same prepared inputs. It covers the spec, but only the parts
/// of the machine that the compiler reads, and not the parts of the record that are requested.
std::string prepared_key(const RunSpec& spec);

/// Reads the spec's files and compiles its network. Throws ConfigError, ModelError, ProgramError or
/// InputError for errors that the user can correct.
Prepared prepare(const RunSpec& spec);

/// Simulates the inputs that were prepared for this spec and returns the record. A SystemC context allows one
/// run. Throws as `prepare` does.
RunRecord simulate(const RunSpec& spec, const Prepared& prepared, Observer* observer = nullptr,
                   const Progress& progress = {});

/// Both, in this process.
RunRecord run(const RunSpec& spec, Observer* observer = nullptr, const Progress& progress = {});

/// The program of a .tpu file or of assembly text; the first bytes distinguish the two. Throws ProgramError.
isa::Program read_program(const std::filesystem::path& path);

}  // namespace systole::run
