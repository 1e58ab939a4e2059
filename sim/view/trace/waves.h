#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <filesystem>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/whole_file.h"
#include "hw/common/bound_instructions.h"
#include "hw/common/registers.h"
#include "hw/common/trace.h"
#include "hw/common/unit_waves.h"
#include "hw/isa/program.h"
#include "hw/isa/queue.h"
#include "hw/machine/machine_config.h"
#include "sim/run/record/trace_config.h"
#include "sim/view/trace/processing_elements.h"
#include "sim/view/trace/wave_signals.h"

namespace systole::trace {

/// The signals of the cores' units, cycle by cycle, as a VCD file; docs/waves.md explains each signal. The
/// class records events during the run and plays them afterwards (sim/view/trace/wave_player.h).
class Waves final : public hw::RegisterSink {
public:
    /// The limit on traced cycles, because a file takes tens of bytes a cycle.
    static constexpr Cycle most_cycles = 5'000'000;
    /// The limit on the memory of recorded events.
    static constexpr std::size_t most_bytes = std::size_t{1} << 28U;

    /// Program and machine must outlive the object. Throws ConfigError where the window is too wide or the
    /// machine has no such processing elements, OutputError where the file cannot be made.
    Waves(const TraceConfig& config, const isa::Program& program, const machine::MachineConfig& machine,
          std::filesystem::path file);

    /// To be told the events of a core.
    hw::TraceSink& of_core(std::size_t core) { return cores_.at(core); }
    void cycle(Cycle cycle, const hw::ArrayRegisters& registers) override;

    /// Whether waves show registers of the array.
    bool has_cells() const { return !cells_.empty(); }

    /// Writes the file from the recorded events, up to the end of the run or up to its failure.
    void write();

private:
    using Signals = std::vector<std::unique_ptr<WaveSignal>>;

    /// The signals of the sequencer, of each queue, and of the units as they describe them.
    class OfCore final : public hw::TraceListener, public hw::WaveMaker {
    public:
        /// `scope`: in which its signals are, with a dot at its end.
        OfCore(Waves& file, std::string scope);

        void begun(const hw::TracedCore& core) override;
        void instruction(const hw::InstructionTimes& times) override;
        void issued(const hw::IssueTimes& times) override;
        void queued(const hw::QueueTimes& times) override;
        void stalled(const hw::StallTimes& times) override;
        void tile_fetched(const hw::TileTimes& times) override;
        void tile(const hw::TileTimes& times) override;
        void matrix_idle(const hw::MatrixIdleTimes& times) override;
        void stream(const hw::StreamTimes& times) override;
        void ended(Cycle end, hw::Tag tag) override;

        void shows(isa::QueueId queue) override;
        DrivenSignal& flag(const std::string& name) override;
        DrivenSignal& number(const std::string& name, std::uint64_t most) override;
        LevelSignal& level(const std::string& name, std::uint64_t most) override;
        const isa::Program& program() const override { return file_.program_; }
        hw::BoundInstructions& bound() override { return bound_; }

        template <class Signal, class... Rest>
        Signal& add(const std::string& name, unsigned width, Rest... rest);
        /// In the order of the file.
        std::vector<Signals*> signals() { return {&sequencer_, &levels_, &units_, &cells_, &queues_}; }
        /// The next signals are those of the array's registers.
        void add_cells() { adding_ = &cells_; }

    private:
        struct Queue {
            std::string prefix;  ///< of its signals' names
            LevelSignal* waiting = nullptr;
            /// Shows the instructions at which the unit works: the listener of the unit, or a bit and a
            /// number.
            hw::TraceListener* unit = nullptr;
            std::optional<hw::NumberedWave> work = {};
            std::map<std::string, DrivenSignal*> stalls = {};  ///< by the names of those that the run has had
        };

        Queue& queue(std::size_t unit);

        Waves& file_;
        const std::string scope_;
        hw::BoundInstructions bound_;
        // By part of the file.
        Signals sequencer_;
        Signals levels_;  ///< of queues that units show
        Signals units_;
        Signals cells_;
        Signals queues_;  ///< of all others, and waits
        Signals* adding_ = &sequencer_;
        hw::NumberedWave issue_;
        hw::DrivenWave& empty_;
        hw::DrivenWave& queue_full_;
        hw::DrivenWave& draining_;
        std::vector<std::unique_ptr<hw::TraceListener>> listeners_;  ///< of units
        std::vector<isa::QueueId> shown_;  ///< queues of the unit that makes its signals
        std::vector<Queue> by_number_;
        std::optional<Cycle> last_issue_;
        std::optional<Cycle> draining_since_;
    };
    struct CellSignals {
        Cell cell;
        RegisterSignal& activation;
        RegisterSignal& weight;
        RegisterSignal& shadow_weight;
        RegisterSignal& partial_sum;
    };

    void add_cell(const Cell& cell);
    /// Notes that the run has reached this cycle. Throws ConfigError if the window has become too large.
    void heard(Cycle cycle);

    const isa::Program& program_;
    const machine::MachineConfig& machine_;
    const std::string name_;  ///< of the file
    WholeFile file_;
    const bool is_open_;  ///< the window ends with the run
    const WaveWindow window_;
    std::deque<OfCore> cores_;
    std::vector<CellSignals> cells_;

    // The state of the run so far.
    Cycle heard_ = 0;
    std::uint64_t notes_ = 0;
    bool failed_ = false;
    std::optional<Cycle> end_;
};

}  // namespace systole::trace
