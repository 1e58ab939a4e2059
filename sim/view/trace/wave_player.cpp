#include "sim/view/trace/wave_player.h"

#include <fmt/format.h>
#include <sysc/tracing/sc_tracing_ids.h>

#include <cstdint>
#include <deque>
#include <fstream>
#include <optional>
#include <string>
#include <systemc>
#include <utility>

#include "base/whole_file.h"

namespace systole::trace {
namespace {

/// Makes a second SystemC simulation the current one; the destructor restores the first.
class SecondSimulation {
public:
    SecondSimulation()
        : first_(std::exchange(sc_core::sc_curr_simcontext, &context_)),
          first_default_(std::exchange(sc_core::sc_default_global_context, &context_)) {}
    ~SecondSimulation() {
        sc_core::sc_curr_simcontext = first_;
        sc_core::sc_default_global_context = first_default_;
    }
    SecondSimulation(const SecondSimulation&) = delete;
    SecondSimulation& operator=(const SecondSimulation&) = delete;

private:
    sc_core::sc_simcontext context_;
    sc_core::sc_simcontext* const first_;
    sc_core::sc_simcontext* const first_default_;
};

struct CloseTraceFile {
    void operator()(sc_core::sc_trace_file* file) const { sc_core::sc_close_vcd_trace_file(file); }
};

/// Drives wires with the values of the signals, cycle by cycle.
class Player final : public sc_core::sc_module {
public:
    Player(const sc_core::sc_module_name& name, const std::vector<std::unique_ptr<WaveSignal>>& signals,
           Cycle from, Cycle to)
        : sc_module(name), to_(to), cycle_(from) {
        for (const auto& signal : signals) wires_.emplace_back(*signal);
        SC_METHOD(half_a_cycle);
    }
    SC_HAS_PROCESS(Player);

    void trace_into(sc_core::sc_trace_file& file) const {
        sc_core::sc_trace(&file, clock_, "tpu.clk");
        for (const Wire& wire : wires_) sc_core::sc_trace(&file, wire.value, wire.signal.name());
    }

private:
    struct Wire {
        explicit Wire(WaveSignal& of) : signal(of), value(sc_dt::SC_LOGIC_Z, static_cast<int>(of.width())) {}

        void show(Cycle cycle) {
            const std::optional<std::uint64_t> now = signal.at(cycle);
            if (now == shown) return;
            shown = now;
            // Word by word, because SystemC's assignment of a number shifts by the width of the word if the
            // bits fill it, which is undefined in C++. An undriven bit is 0 with its control bit set.
            const std::uint64_t used = ~std::uint64_t{0} >> (most_width - signal.width());
            const std::uint64_t data = now.value_or(0) & used;
            const std::uint64_t control = now ? 0 : used;
            for (int word = 0; word < value.size(); ++word) {
                const int shift = word * sc_dt::SC_DIGIT_SIZE;
                value.set_word(word, static_cast<sc_dt::sc_digit>(data >> shift));
                value.set_cword(word, static_cast<sc_dt::sc_digit>(control >> shift));
            }
        }

        static constexpr unsigned most_width = 64;

        WaveSignal& signal;
        std::optional<std::uint64_t> shown;
        sc_dt::sc_lv_base value;
    };

    void half_a_cycle() {
        const sc_core::sc_time cycle(cycle_nanoseconds, sc_core::SC_NS);
        const sc_core::sc_time now = sc_core::sc_time::from_value(cycle.value() * cycle_);
        if (sc_core::sc_time_stamp() < now) {
            next_trigger(now - sc_core::sc_time_stamp());
        } else if (clock_ != sc_dt::SC_LOGIC_1) {
            if (cycle_ == to_) return;
            clock_ = sc_dt::SC_LOGIC_1;
            for (Wire& wire : wires_) wire.show(cycle_);
            next_trigger(cycle / 2);
        } else {
            clock_ = sc_dt::SC_LOGIC_0;
            ++cycle_;
            next_trigger(cycle / 2);
        }
    }

    const Cycle to_;
    Cycle cycle_;
    sc_dt::sc_logic clock_{sc_dt::SC_LOGIC_Z};
    std::deque<Wire> wires_;
};

/// SystemC does not report write errors, so this checks that the file ends with the time of its last cycle.
void check_whole(const std::filesystem::path& file, const std::string& name, Cycle to) {
    constexpr Cycle units_in_cycle = 10;
    const std::string last = fmt::format("#{}\n", to * units_in_cycle);
    std::ifstream stream(file, std::ios::binary);
    stream.seekg(-static_cast<std::streamoff>(last.size()), std::ios::end);
    std::string end(last.size(), '\0');
    stream.read(end.data(), static_cast<std::streamsize>(end.size()));
    if (end != last) {
        throw OutputError(fmt::format("{}: cannot be written completely; is the disk full?", name));
    }
}

}  // namespace

void play(const std::vector<std::unique_ptr<WaveSignal>>& signals, Cycle from, Cycle to,
          const std::filesystem::path& file, const std::string& name) {
    // Suppresses SystemC's message that the time unit was set.
    sc_core::sc_report_handler::set_actions(sc_core::SC_ID_TRACING_TIMESCALE_UNIT_, sc_core::SC_INFO,
                                            sc_core::SC_DO_NOTHING);
    const SecondSimulation simulation;
    {
        Player player("waves", signals, from, to);
        std::filesystem::path stem = file;  // SystemC appends ".vcd"
        stem.replace_extension();
        const std::unique_ptr<sc_core::sc_trace_file, CloseTraceFile> trace(
            sc_core::sc_create_vcd_trace_file(stem.c_str()));
        trace->set_time_unit(100.0, sc_core::SC_PS);  // fine enough for the falling edge in mid-cycle
        player.trace_into(*trace);
        sc_core::sc_start();
    }
    check_whole(file, name, to);
}

}  // namespace systole::trace
