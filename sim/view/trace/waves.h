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
#include "hw/common/registers.h"
#include "hw/common/trace.h"
#include "hw/isa/program.h"
#include "hw/machine/machine_config.h"
#include "sim/run/record/trace_config.h"
#include "sim/view/trace/bound_instructions.h"
#include "sim/view/trace/processing_elements.h"
#include "sim/view/trace/wave_signals.h"

namespace systole::trace {

/// The signals of the chip's units, cycle by cycle, as a VCD file; docs/waves.md explains each signal. The
/// class records events during the run and plays them afterwards (sim/view/trace/wave_player.h).
class Waves final : public hw::TraceListener, public hw::RegisterSink {
public:
    /// The limit on traced cycles, because a file takes tens of bytes a cycle.
    static constexpr Cycle most_cycles = 5'000'000;
    /// The limit on the memory of recorded events.
    static constexpr std::size_t most_bytes = std::size_t{1} << 28U;

    /// Program and machine must outlive the object. Throws ConfigError where the window is too wide or the
    /// machine has no such processing elements, OutputError where the file cannot be made.
    Waves(const TraceConfig& config, const isa::Program& program, const machine::MachineConfig& machine,
          std::filesystem::path file);

    void begun(const std::vector<hw::TracedQueue>& queues) override;
    void instruction(const hw::InstructionTimes& times) override;
    void issued(const hw::IssueTimes& times) override;
    void queued(const hw::QueueTimes& times) override;
    void stalled(const hw::StallTimes& times) override;
    void tile_fetched(const hw::TileTimes& times) override;
    void tile(const hw::TileTimes& times) override;
    void matrix_idle(const hw::MatrixIdleTimes& times) override;
    void stream(const hw::StreamTimes& times) override;
    void ended(Cycle end, hw::Tag tag) override;
    void cycle(Cycle cycle, const hw::ArrayRegisters& registers) override;

    /// Whether waves show registers of the array.
    bool has_cells() const { return !cells_.empty(); }

    /// Writes the file from the recorded events, up to the end of the run or up to its failure.
    void write();

private:
    /// A bit, and a number that is driven while the bit is 1.
    struct NumberedFlag {
        DrivenSignal& flag;
        DrivenSignal& number;

        void hold(Cycle begin, Cycle end, std::uint64_t value) const {
            flag.hold(begin, end);
            number.hold(begin, end, value);
        }
    };
    struct QueueSignals {
        std::string prefix;  ///< of their names
        LevelSignal* waiting = nullptr;
        /// The instruction at which the unit works; absent if the unit has signals of its own.
        std::optional<NumberedFlag> work;
        std::map<std::string, DrivenSignal*> stalls;  ///< by the names of those that the run has had
    };
    /// The signals of a machine with an array; those of other machines are made from their queues.
    struct ArraySignals {
        NumberedFlag host_read;
        NumberedFlag host_write;
        NumberedFlag buffer_host_in;
        NumberedFlag buffer_host_out;
        NumberedFlag buffer_setup_read;
        NumberedFlag buffer_activation_read;
        NumberedFlag buffer_activation_write;
        NumberedFlag fetch;
        LevelSignal& fifo_tiles;
        LevelSignal& fifo_whole;
        DrivenSignal& active;
        DrivenSignal& weight_stall;
        DrivenSignal& weight_shift;
        DrivenSignal& non_matrix;
        DrivenSignal& raw_stall;
        DrivenSignal& input_stall;
        DrivenSignal& setup_stall;
        DrivenSignal& port_stall;
        DrivenSignal& matrix_layer;
        DrivenSignal& stream_instruction;
        DrivenSignal& stream_repetition;
        DrivenSignal& stream_tile;
        NumberedFlag shift;
        NumberedFlag sums_write;
        NumberedFlag sums_read;
        DrivenSignal& activation_busy;
        DrivenSignal& activation_load;
        DrivenSignal& activation_instruction;
        DrivenSignal& activation_layer;
    };
    struct CellSignals {
        Cell cell;
        RegisterSignal& activation;
        RegisterSignal& weight;
        RegisterSignal& shadow_weight;
        RegisterSignal& partial_sum;
    };

    template <class Signal, class... Rest>
    Signal& add(const std::string& name, unsigned width, Rest... rest);
    /// A bit, which is 0 unless it is set to 1.
    DrivenSignal& flag(const std::string& name);
    /// A number up to `most`, which is driven only while it has a meaning.
    DrivenSignal& number(const std::string& name, std::uint64_t most);
    NumberedFlag numbered(const std::string& flag_name, const std::string& number_name, std::uint64_t most);
    /// A memory port, which is held or not, and the row at it.
    NumberedFlag port(const std::string& name, std::uint64_t rows);
    LevelSignal& level(const std::string& name, std::uint64_t most);
    ArraySignals array_signals();
    /// Whether the constructor adds the signals of the queue's unit; those of other units are made from its
    /// instructions.
    bool has_own_signals(std::size_t unit) const;
    void add_cell(const Cell& cell);

    /// Notes that the run has reached this cycle. Throws ConfigError if the window has become too large.
    void heard(Cycle cycle);
    void activation_unit(const hw::InstructionTimes& times);
    void enter_line(Cycle begin, const hw::StreamTimes& times);

    const isa::Program& program_;
    const machine::MachineConfig& machine_;
    const std::string name_;  ///< of the file
    WholeFile file_;
    const bool is_open_;  ///< the window ends with the run
    const WaveWindow window_;
    std::vector<std::unique_ptr<WaveSignal>> signals_;  ///< declared before the references to its elements
    BoundInstructions bound_;

    // The state of the run so far.
    Cycle heard_ = 0;
    std::uint64_t notes_ = 0;
    bool failed_ = false;
    std::optional<Cycle> end_;
    std::optional<Cycle> last_issue_;
    std::optional<Cycle> draining_since_;
    Cycle last_whole_ = 0;
    Cycle array_free_ = 0;
    std::deque<std::uint32_t> tiles_;  ///< tiles that have been fetched and not yet used
    std::uint32_t tile_in_array_ = 0;
    std::optional<hw::InstructionNumber> streaming_;
    std::uint64_t repetition_ = 0;

    // The signals, in the order of the file.
    NumberedFlag issue_;
    DrivenSignal& empty_;
    DrivenSignal& queue_full_;
    DrivenSignal& draining_;
    const std::size_t levels_at_;  ///< the place of the queues' levels, which `begun` adds
    std::optional<ArraySignals> array_;
    std::vector<CellSignals> cells_;
    std::vector<QueueSignals> queues_;  ///< by number
};

}  // namespace systole::trace
