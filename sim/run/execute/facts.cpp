#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <map>
#include <stdexcept>
#include <string>
#include <string_view>
#include <variant>

#include "hw/isa/assembly.h"
#include "hw/isa/encoding.h"
#include "hw/isa/footprint.h"
#include "hw/isa/program.h"
#include "sim/run/execute/recorders.h"

namespace systole::run {
namespace {

std::string_view name_of(hw::CounterUnit unit) {
    switch (unit) {
        case hw::CounterUnit::Cycles:
            return "cycles";
        case hw::CounterUnit::Bytes:
            return "bytes";
        case hw::CounterUnit::Rows:
            return "rows";
        case hw::CounterUnit::Tiles:
            return "tiles";
        case hw::CounterUnit::Instructions:
            return "instructions";
        case hw::CounterUnit::Macs:
            return "multiply-accumulates";
        case hw::CounterUnit::MemoryClocks:
            return "memory clocks";
        case hw::CounterUnit::Commands:
            return "commands";
        case hw::CounterUnit::Elements:
            return "elements";
        case hw::CounterUnit::Vectors:
            return "vectors";
    }
    throw std::logic_error("an unknown unit of a counter");
}

TileUse use_of(const isa::WeightTile& tile) {
    return {.tiles = 1,
            .rows = tile.rows,
            .columns = tile.columns,
            .cells = std::uint64_t{tile.rows} * tile.columns,
            .weights = tile.useful_macs,
            .widest_columns = tile.columns};
}

/// Whether the main unit executes it.
bool is_of_main_unit(const isa::Instruction& instruction) {
    return std::holds_alternative<isa::MatrixMultiply>(instruction) ||
           std::holds_alternative<isa::Convolve>(instruction) ||
           std::holds_alternative<isa::TileMultiply>(instruction) ||
           std::holds_alternative<isa::TileVector>(instruction);
}

std::vector<TagFacts> tags_of(const isa::Program& program) {
    Tag last = 0;
    for (const isa::Instruction& instruction : program.instructions) {
        if (const auto* debug = std::get_if<isa::DebugTag>(&instruction)) last = std::max(last, debug->tag);
    }
    std::vector<TagFacts> tags(std::size_t{last} + 1);
    for (std::size_t tag = 0; tag < tags.size(); ++tag) {
        tags[tag].name = isa::layer_name(program, static_cast<Tag>(tag));
        tags[tag].instruction = "none";
    }
    Tag tag = 0;
    bool is_over = false;
    for (const isa::Instruction& instruction : program.instructions) {
        if (std::holds_alternative<isa::Halt>(instruction)) is_over = true;
        if (const auto* debug = std::get_if<isa::DebugTag>(&instruction)) tag = debug->tag;
        TagFacts& facts = tags[tag];
        if (is_of_main_unit(instruction)) {
            const std::string name(isa::mnemonic(instruction));
            facts.instruction = facts.executed == 0 || facts.instruction == name ? name : "mixed";
            ++facts.executed;
        }
        const auto* read = std::get_if<isa::ReadWeights>(&instruction);
        if (read == nullptr || is_over) continue;
        for (std::size_t i = 0; i < read->tiles; ++i) {
            facts.fetched += use_of(program.tiles.at(read->first_tile + i));
        }
    }
    return tags;
}

std::vector<TensorFacts> tensors_of(std::span<const isa::BorderTensor> tensors) {
    std::vector<TensorFacts> facts;
    for (const isa::BorderTensor& tensor : tensors) {
        facts.push_back({.name = tensor.name,
                         .shape = tensor.shape,
                         .scale = tensor.scale,
                         .zero_point = tensor.zero_point,
                         .type = tensor.type});
    }
    return facts;
}

std::string unit_name(const isa::Instruction& instruction) {
    if (const auto* wait = std::get_if<isa::SyncWait>(&instruction))
        return std::string(isa::name(wait->unit));
    if (const auto* signal = std::get_if<isa::SyncSignal>(&instruction)) {
        return std::string(isa::name(signal->unit));
    }
    const auto unit = isa::queue_of(instruction);
    return unit ? std::string(isa::name(*unit)) : "sequencer";
}

}  // namespace

Counters counters_of(const hw::System& system) {
    Counters counters;
    std::map<std::string, std::size_t> places;
    const auto add = [&](const hw::PlacedCounters& placed) {
        for (const hw::Counter& counter : *placed.group) {
            const std::string path = fmt::format("{}.{}", placed.path, counter.name());
            const auto [place, is_new] = places.try_emplace(path, counters.all.size());
            if (is_new) {
                counters.all.push_back({.path = path,
                                        .unit = std::string(name_of(counter.unit())),
                                        .meaning = std::string(counter.meaning()),
                                        .total = 0,
                                        .by_tag = {}});
            }
            Counter& sum = counters.all[place->second];
            sum.by_tag.resize(std::max<std::size_t>(sum.by_tag.size(), counter.last_tag() + 1U));
            for (std::size_t tag = 0; tag <= counter.last_tag(); ++tag) {
                sum.by_tag[tag] += counter.value(static_cast<Tag>(tag));
                sum.total += counter.value(static_cast<Tag>(tag));
            }
        }
    };
    const std::vector<hw::System::CountedPart> parts = system.counted_parts();
    for (const hw::System::CountedPart& part : parts) std::ranges::for_each(part.groups, add);
    for (const hw::System::CountedPart& part : parts) std::ranges::for_each(part.details, add);
    return counters;
}

std::vector<MachinePart> parts_of(const hw::System& system) {
    std::map<std::string, MachinePart> parts;
    const std::vector<machine::UnitDescription> units = system.descriptions();
    const machine::MainUnit& main = *machine::main_unit_of(units).main;
    const auto is_class = [&](const std::string& path) {
        return std::ranges::find(main.classes, path, &machine::CycleClass::counter) != main.classes.end();
    };
    for (const hw::System::CountedPart& counted : system.counted_parts()) {
        if (counted.path.empty() && counted.core) return {};
        MachinePart& part = parts[counted.path];
        part.name = counted.path.substr(0, counted.path.size() - (counted.path.empty() ? 0 : 1));
        if (counted.core) part.cycles = system.core(*counted.core).end();
        for (const std::vector<hw::PlacedCounters>* const groups : {&counted.groups, &counted.details}) {
            for (const hw::PlacedCounters& placed : *groups) {
                for (const hw::Counter& counter : *placed.group) {
                    part.counts.push_back({.path = fmt::format("{}.{}", placed.path, counter.name()),
                                           .total = counter.value()});
                    if (!is_class(part.counts.back().path)) continue;
                    part.by_tag.resize(std::max<std::size_t>(part.by_tag.size(), counter.last_tag() + 1U));
                    for (std::size_t tag = 0; tag <= counter.last_tag(); ++tag) {
                        part.by_tag[tag] += counter.value(static_cast<Tag>(tag));
                    }
                }
            }
        }
    }
    std::vector<MachinePart> sorted;
    sorted.reserve(parts.size());
    for (auto& [path, part] : parts) sorted.push_back(std::move(part));
    return sorted;
}

ProgramFacts facts_of(const isa::Program& program, const machine::MachineConfig& machine) {
    ProgramFacts facts;
    facts.rows = program.geometry.rows;
    facts.columns = program.geometry.columns;
    facts.model = program.model;
    facts.batch = program.batch;
    facts.inferences = program.inferences;
    facts.instructions = program.instructions.size();
    for (const isa::Instruction& instruction : program.instructions) {
        facts.instruction_bytes += isa::encoded_size(instruction);
    }
    facts.tiles = program.tiles.size();
    // A tile for blocks of pixels has each weight once for each pixel of the block.
    std::map<std::size_t, std::uint64_t> weights_by_pixels;
    for (const isa::WeightTile& tile : program.tiles) {
        facts.tile_bytes += std::uint64_t{tile.rows} * tile.columns * bytes_of(tile.type);
        facts.memory_bytes += isa::memory_bytes(tile, program.geometry);
        weights_by_pixels[std::max<std::size_t>(tile.block_macs.size(), 1)] += tile.useful_macs;
    }
    facts.spilled_bytes = facts.memory_bytes - isa::resident_bytes(program, machine.weight_memory.bytes);
    for (const auto& [pixels, weights] : weights_by_pixels) facts.weights += weights / pixels;
    for (const isa::LayerInfo& layer : program.layers) {
        facts.layers.push_back({.name = layer.name, .kind = layer.kind, .macs = layer.macs});
    }
    facts.tags = tags_of(program);
    facts.inputs = tensors_of(program.inputs);
    facts.outputs = tensors_of(program.outputs);
    facts.has_host_operations = !program.host_operations.empty();
    return facts;
}

std::vector<InstructionLine> instruction_lines(const isa::Program& program,
                                               std::span<const hw::InstructionTimes> times, Cycle end) {
    // Sorted by number; the repetitions of an instruction are already in order.
    std::vector<const hw::InstructionTimes*> sorted;
    sorted.reserve(times.size());
    for (const hw::InstructionTimes& each : times) sorted.push_back(&each);
    std::stable_sort(sorted.begin(), sorted.end(),
                     [](const auto* a, const auto* b) { return a->number < b->number; });

    const std::vector<std::string> texts = isa::instruction_texts(program);
    std::vector<InstructionLine> lines;
    auto next = sorted.begin();
    for (std::size_t number = 0; number < program.instructions.size(); ++number) {
        const isa::Instruction& instruction = program.instructions[number];
        InstructionLine line;
        line.number = number;
        line.unit = unit_name(instruction);
        line.text = texts[number];
        if (std::holds_alternative<isa::Halt>(instruction)) line.complete = end;
        if (next == sorted.end() || (*next)->number != number) {
            lines.push_back(std::move(line));
        } else {
            for (; next != sorted.end() && (*next)->number == number; ++next) {
                line.issued = (*next)->issued;
                line.begun = (*next)->begun;
                line.released = (*next)->released;
                line.complete = (*next)->complete;
                if (std::holds_alternative<isa::Halt>(instruction)) line.released = line.complete = end;
                lines.push_back(line);
                ++line.repetition;
            }
        }
        // Instructions after it are not executed.
        if (std::holds_alternative<isa::Halt>(instruction)) break;
    }
    return lines;
}

}  // namespace systole::run
