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

/// Specs become records.
namespace systole::run {

/// Whoever watches a run in this process, beside what its record holds.
class Observer {
public:
    virtual ~Observer() = default;
    /// The run is about to begin. Program and machine live until `finish` or `failed` has returned.
    virtual void begin(const isa::Program& program, const machine::MachineConfig& machine) = 0;
    /// Who is to hear of the run; null for nobody. Asked after `begin`.
    virtual hw::TraceSink* trace() = 0;
    /// Who is to hear of the array's registers; null for nobody.
    virtual hw::RegisterSink* registers() = 0;
    /// The run is over. Not called of one that fails.
    virtual void finish(const RunRecord& record) = 0;
    /// The run has failed, perhaps before `begin`.
    virtual void failed() noexcept = 0;
};

/// Instructions issued so far and in all.
using Progress = std::function<void(std::uint64_t issued, std::uint64_t total)>;

/// What a run needs besides the machine: read and compiled.
struct Prepared {
    std::optional<ir::Graph> graph;  ///< absent of a program
    std::optional<NetworkWork> network;
    isa::Program program;
    std::optional<NamedImages> input;
    std::vector<std::uint32_t> labels;
};

/// Under it, what is prepared for one run serves another: all of the spec, of the machine what the compiler
/// is told, without what is asked of the finished run.
std::string prepared_key(const RunSpec& spec);

/// Reads the spec's files and compiles its network. Throws ConfigError, ModelError, ProgramError or
/// InputError for what the user can mend.
Prepared prepare(const RunSpec& spec);

/// Simulates what was prepared for this spec, and says all that is known afterwards. One run for each SystemC
/// context. Throws as `prepare` does.
RunRecord simulate(const RunSpec& spec, const Prepared& prepared, Observer* observer = nullptr,
                   const Progress& progress = {});

/// Both, in this process.
RunRecord run(const RunSpec& spec, Observer* observer = nullptr, const Progress& progress = {});

/// The program of a .tpu file or of assembly text: its first bytes say which. Throws ProgramError.
isa::Program read_program(const std::filesystem::path& path);

}  // namespace systole::run
