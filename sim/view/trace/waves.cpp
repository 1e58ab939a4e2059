#include "sim/view/trace/waves.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <iterator>
#include <limits>
#include <string_view>
#include <utility>
#include <variant>

#include "hw/common/unit_module.h"
#include "hw/machine/config_error.h"
#include "sim/view/trace/output_file.h"
#include "sim/view/trace/wave_player.h"

namespace systole::trace {
namespace {

/// The bits of a number up to `most`.
unsigned bits_for(std::uint64_t most) {
    return std::max(1U, static_cast<unsigned>(std::bit_width(most)));
}

/// The window of the run file. The length of an open window is checked during the run.
WaveWindow window_of(const TraceConfig& config, bool is_open) {
    const Cycle to = is_open ? std::numeric_limits<Cycle>::max() : config.to;
    if (!is_open && to - config.from > Waves::most_cycles) {
        throw machine::ConfigError(
            fmt::format("trace.to is {}; waves show {} cycles at most, and trace.from is {}", config.to,
                        Waves::most_cycles, config.from));
    }
    return {.from = config.from, .to = to};
}

/// The signals of a scope together, in the order in which the scopes are first named.
void group_by_scope(std::vector<std::unique_ptr<WaveSignal>>& signals) {
    std::vector<std::string_view> scopes;
    const auto place = [&scopes](const std::unique_ptr<WaveSignal>& signal) {
        const std::string_view name = signal->name();
        const auto found = std::ranges::find(scopes, name.substr(0, name.rfind('.')));
        return found - scopes.begin();
    };
    for (const auto& signal : signals) {
        const std::string_view name = signal->name();
        if (place(signal) == std::ssize(scopes)) scopes.push_back(name.substr(0, name.rfind('.')));
    }
    std::ranges::stable_sort(signals, {}, place);
}

}  // namespace

Waves::Waves(const TraceConfig& config, const isa::Program& program, const machine::MachineConfig& machine,
             std::filesystem::path file)
    : program_(program),
      machine_(machine),
      name_(file.string()),
      file_(std::move(file)),
      is_open_(config.to == 0),
      window_(window_of(config, is_open_)) {
    for (std::uint32_t core = 0; core < machine.cores(); ++core) {
        const std::string name = machine.core_name(core);
        cores_.emplace_back(*this, name.empty() ? "tpu." : "tpu." + name + ".");
    }
    for (const Cell& cell : read_cells(config.processing_elements, machine)) add_cell(cell);
}

Waves::OfCore::OfCore(Waves& file, std::string scope)
    : file_(file),
      scope_(std::move(scope)),
      bound_(file.program_),
      issue_(work("sequencer.issue", "sequencer.instruction")),
      empty_(flag("sequencer.empty")),
      queue_full_(flag("sequencer.queue_full")),
      draining_(flag("sequencer.draining")) {}

void Waves::OfCore::begun(const hw::TracedCore& core) {
    adding_ = &units_;
    for (const hw::UnitModule* const unit : core.units) {
        shown_.clear();
        std::unique_ptr<hw::TraceListener> listener = unit->waves(*this);
        if (!listener) continue;
        for (const isa::QueueId id : shown_) queue(static_cast<std::size_t>(id)).unit = listener.get();
        listeners_.push_back(std::move(listener));
    }
    group_by_scope(units_);
    // The file has them in the order of their numbers.
    std::vector<hw::TracedQueue> by_number = core.queues;
    std::ranges::sort(by_number, {}, &hw::TracedQueue::unit);
    for (const hw::TracedQueue& each : by_number) {
        Queue& signals = queue(each.unit);
        signals.prefix = each.traces.signals;
        adding_ = signals.unit != nullptr ? &levels_ : &queues_;
        signals.waiting = &level(signals.prefix + "queue", file_.machine_.sequencer.queue_depth);
        if (signals.unit == nullptr) {
            signals.work.emplace(
                work(signals.prefix + std::string(each.traces.works), signals.prefix + "instruction"));
        }
    }
    adding_ = &queues_;
}

Waves::OfCore::Queue& Waves::OfCore::queue(std::size_t unit) {
    if (unit >= by_number_.size()) by_number_.resize(unit + 1);
    return by_number_[unit];
}

void Waves::OfCore::shows(isa::QueueId queue) {
    shown_.push_back(queue);
}

template <class Signal, class... Rest>
Signal& Waves::OfCore::add(const std::string& name, unsigned width, Rest... rest) {
    auto signal = std::make_unique<Signal>(scope_ + name, width, file_.window_, rest...);
    Signal& added = *signal;
    adding_->push_back(std::move(signal));
    return added;
}

DrivenSignal& Waves::OfCore::flag(const std::string& name) {
    return add<DrivenSignal>(name, 1, std::optional<std::uint64_t>(0));
}

DrivenSignal& Waves::OfCore::number(const std::string& name, std::uint64_t most) {
    return add<DrivenSignal>(name, bits_for(most), std::optional<std::uint64_t>());
}

LevelSignal& Waves::OfCore::level(const std::string& name, std::uint64_t most) {
    return add<LevelSignal>(name, bits_for(most));
}

void Waves::add_cell(const Cell& cell) {
    const std::string scope = fmt::format("matrix_unit.pe_{}_{}.", cell.row, cell.column);
    constexpr unsigned element_bits = 16;
    constexpr unsigned sum_bits = 32;
    OfCore& core = cores_.front();
    core.add_cells();
    cells_.push_back({.cell = cell,
                      .activation = core.add<RegisterSignal>(scope + "activation", element_bits),
                      .weight = core.add<RegisterSignal>(scope + "weight", element_bits),
                      .shadow_weight = core.add<RegisterSignal>(scope + "shadow_weight", element_bits),
                      .partial_sum = core.add<RegisterSignal>(scope + "partial_sum", sum_bits)});
}

void Waves::heard(Cycle cycle) {
    heard_ = std::max(heard_, cycle);
    if (is_open_ && heard_ > window_.from && heard_ - window_.from > most_cycles) {
        failed_ = true;
        throw machine::ConfigError(fmt::format(
            "trace.to is missing; the run takes more than {} cycles, which is the limit of waves: "
            "give trace.from and trace.to",
            most_cycles));
    }
    constexpr std::uint64_t notes_between_checks = 4096;
    if (++notes_ % notes_between_checks != 0) return;
    std::size_t bytes = 0;
    for (OfCore& core : cores_) {
        for (const Signals* const part : core.signals()) {
            for (const auto& signal : *part) bytes += signal->bytes();
        }
    }
    if (bytes > most_bytes) {
        failed_ = true;
        throw machine::ConfigError(
            fmt::format("trace.to is {}; the events from cycle {} to {} take more than {} bytes: give fewer "
                        "cycles, or fewer processing elements",
                        is_open_ ? "missing" : std::to_string(window_.to), window_.from, heard_, most_bytes));
    }
}

void Waves::OfCore::issued(const hw::IssueTimes& times) {
    file_.heard(times.issued);
    empty_.hold(times.asked, times.arrived);
    queue_full_.hold(times.arrived, times.issued);
    if (last_issue_ != times.issued) {
        issue_.hold(times.issued, times.issued + 1, times.number);
    }
    last_issue_ = times.issued;
    if (std::holds_alternative<isa::Halt>(program().instructions[times.number])) {
        draining_since_ = times.issued;
    }
}

void Waves::OfCore::queued(const hw::QueueTimes& times) {
    file_.heard(times.taken);
    LevelSignal& waiting = *by_number_.at(times.unit).waiting;
    waiting.come(times.issued);
    waiting.go(times.taken);
}

void Waves::OfCore::instruction(const hw::InstructionTimes& times) {
    file_.heard(times.begun);
    const Queue& queue = by_number_.at(times.unit);
    if (queue.unit != nullptr) {
        queue.unit->instruction(times);
    } else {
        queue.work->hold(times.begun, times.released, times.number);
        bound_.drop(times.number);
    }
}

void Waves::OfCore::stalled(const hw::StallTimes& times) {
    file_.heard(times.until);
    Queue& signals = by_number_.at(times.unit);
    const std::string name =
        signals.prefix + std::string(times.reason.substr(0, times.reason.rfind("_cycles")));
    auto found = signals.stalls.find(name);
    if (found == signals.stalls.end()) found = signals.stalls.emplace(name, &flag(name)).first;
    found->second->hold(times.from, times.until);
}

void Waves::OfCore::tile_fetched(const hw::TileTimes& times) {
    file_.heard(times.fetched);
    for (const auto& unit : listeners_) unit->tile_fetched(times);
}

void Waves::OfCore::tile(const hw::TileTimes& times) {
    file_.heard(times.shifted);
    for (const auto& unit : listeners_) unit->tile(times);
}

void Waves::OfCore::matrix_idle(const hw::MatrixIdleTimes& times) {
    for (const auto& unit : listeners_) unit->matrix_idle(times);
}

void Waves::OfCore::stream(const hw::StreamTimes& times) {
    file_.heard(times.begun);
    for (const auto& unit : listeners_) unit->stream(times);
}

void Waves::OfCore::ended(Cycle end, hw::Tag tag) {
    file_.heard(end);
    for (const auto& unit : listeners_) unit->ended(end, tag);
    if (draining_since_) draining_.hold(*draining_since_, end);
    file_.end_ = end;
}

void Waves::cycle(Cycle cycle, const hw::ArrayRegisters& registers) {
    heard(cycle);
    for (CellSignals& signals : cells_) {
        const std::size_t place = signals.cell.row * registers.columns + signals.cell.column;
        signals.activation.put(cycle, registers.activations[place]);
        signals.weight.put(cycle, registers.weights[place]);
        signals.shadow_weight.put(cycle, registers.shadow_weights[place]);
        signals.partial_sum.put(cycle, registers.partial_sums[place]);
    }
}

void Waves::write() {
    const Cycle to = std::min(window_.to, end_.value_or(heard_));
    if (failed_ || to <= window_.from) return;
    Signals all;
    for (OfCore& core : cores_) {
        for (Signals* const part : core.signals()) {
            for (auto& signal : *part) {
                signal->finish();
                all.push_back(std::move(signal));
            }
            part->clear();
        }
    }
    play(all, window_.from, to, file_.place(), name_);
    file_.commit();
}

}  // namespace systole::trace
