#include "hw/isa/program_rules.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <deque>
#include <numeric>
#include <set>
#include <type_traits>
#include <unordered_map>
#include <unordered_set>
#include <utility>

#include "base/arithmetic.h"
#include "base/conversion.h"
#include "base/limits.h"
#include "base/message_text.h"
#include "base/wrapped_sum.h"
#include "hw/isa/assembly.h"
#include "hw/isa/assembly/lexer.h"
#include "hw/isa/field_checker.h"
#include "hw/isa/footprint.h"
#include "hw/isa/program_error.h"

namespace systole::isa {
namespace {

[[noreturn]] void fail(const std::string& part, const std::string& rule) {
    throw ProgramError(fmt::format("{}: {}", part, rule));
}

void check_buffers(const Program& program) {
    std::unordered_set<std::string_view> names;
    std::vector<const HostBuffer*> by_address;
    for (const HostBuffer& buffer : program.buffers) {
        if (const auto rule = broken_rule(buffer)) fail("host buffer " + isa::quoted(buffer.name), *rule);
        if (!names.insert(buffer.name).second) {
            fail("host buffer " + isa::quoted(buffer.name), "the name is taken");
        }
        if (buffer.padding > 0 && !program.geometry.has_tensor_core()) {
            fail("host buffer " + isa::quoted(buffer.name),
                 fmt::format("padding is {}; only programs for a tensor core have one", buffer.padding));
        }
        by_address.push_back(&buffer);
    }
    std::sort(by_address.begin(), by_address.end(),
              [](const HostBuffer* a, const HostBuffer* b) { return a->address < b->address; });
    for (std::size_t i = 1; i < by_address.size(); ++i) {
        const HostBuffer& before = *by_address[i - 1];
        if (before.address + before.all_bytes() > by_address[i]->address) {
            fail("host buffer " + isa::quoted(by_address[i]->name),
                 "it overlaps " + isa::quoted(before.name));
        }
    }
}

void check_initial_rows(const Program& program, MemoryId memory) {
    const auto part = [&](std::uint64_t row) {
        return fmt::format("initial rows of the {} from {} on",
                           memory == MemoryId::UnifiedBuffer  ? "unified buffer"
                           : memory == MemoryId::Accumulators ? "accumulators"
                                                              : "high-bandwidth memory",
                           row);
    };
    std::vector<RowRange> ranges;
    for (const InitialRows& initial : program.initial[memory]) {
        if (const auto rule = broken_rule(initial, memory, program.geometry)) {
            fail(part(initial.first_row), *rule);
        }
        ranges.push_back(rows_of(initial, memory, program.geometry));
    }
    std::ranges::sort(ranges, {}, &RowRange::first);
    for (std::size_t i = 1; i < ranges.size(); ++i) {
        if (ranges[i - 1].last <= ranges[i].first) continue;
        fail(part(ranges[i].first), fmt::format("they overlap those from {} on", ranges[i - 1].first));
    }
}

std::optional<std::string> broken_rule_of_block(const WeightTile& tile, const Geometry& geometry) {
    if (tile.block_macs.empty()) return std::nullopt;
    if (tile.block_macs.size() > geometry.columns) {
        return fmt::format("block has {} pixels; they may be at most the array's {} columns",
                           tile.block_macs.size(), geometry.columns);
    }
    const std::uint64_t sum =
        std::accumulate(tile.block_macs.begin(), tile.block_macs.end(), std::uint64_t{0});
    if (sum == tile.useful_macs) return std::nullopt;
    return fmt::format("block sums to {}; it must sum to useful, which is {}", sum, tile.useful_macs);
}

/// The kinds of machines, in words.
constexpr std::string_view with_tiles = "tiles";
constexpr std::string_view with_tensor_core = "a tensor core";
constexpr std::string_view with_buffer = "a unified buffer";

std::string_view kind_of(const Geometry& geometry) {
    if (geometry.has_tiles()) return with_tiles;
    return geometry.has_tensor_core() ? with_tensor_core : with_buffer;
}

/// The kind of machines that instructions are for; empty for all.
template <class Each>
constexpr std::string_view kind_for() {
    if (is_for_tiles<Each>) return with_tiles;
    if (is_for_tensor_core<Each>) return with_tensor_core;
    return is_for_array<Each> ? with_buffer : std::string_view();
}

std::string_view kind_for(const Instruction& instruction) {
    return std::visit([]<class Each>(const Each&) { return kind_for<Each>(); }, instruction);
}

/// A machine has a unit if one of the instructions in its queue is for such machines.
bool has_unit(const Geometry& geometry, QueueId unit) {
    bool has = false;
    for_each_kind([&]<class Each>(const Each& instruction) {
        if (std::is_same_v<Each, SyncWait> || std::is_same_v<Each, SyncSignal>) return;  // in every queue
        const std::string_view kind = kind_for<Each>();
        has = has || (instruction.queue() == unit && (kind.empty() || kind == kind_of(geometry)));
    });
    return has;
}

/// An instruction of another kind of machine, and numbers that exceed the tiles.
std::optional<std::string> broken_rule_of_machine(const Instruction& instruction, const Geometry& geometry) {
    const std::string_view kind = kind_for(instruction);
    if (!kind.empty() && kind != kind_of(geometry)) {
        return fmt::format("it is for machines with {}; the program is for one with {}", kind,
                           kind_of(geometry));
    }
    const auto missing = [&](QueueId unit) -> std::optional<std::string> {
        if (has_unit(geometry, unit)) return std::nullopt;
        return fmt::format("unit is {}, which a machine with {} does not have", name(unit),
                           kind_of(geometry));
    };
    if (const auto* const wait = std::get_if<SyncWait>(&instruction)) return missing(wait->unit);
    if (const auto* const signal = std::get_if<SyncSignal>(&instruction)) return missing(signal->unit);
    const auto too_wide = [&](std::uint8_t units) -> std::optional<std::string> {
        const std::uint32_t most = geometry.tiles.lanes / tile_unit_lanes;
        if (units <= most) return std::nullopt;
        return fmt::format("units is {}; a row of weights has at most {}", units, most);
    };
    if (const auto* const sent = std::get_if<Multicast>(&instruction)) return too_wide(sent->units);
    if (const auto* const sent = std::get_if<StreamParameters>(&instruction)) return too_wide(sent->units);
    return std::nullopt;
}

void check_chains(const Program& program) {
    if (!program.chains.empty() && !program.geometry.has_tensor_core()) {
        fail("chains", "the program has some, which are for a machine with a tensor core");
    }
    std::unordered_set<std::string_view> names;
    for (const Chain& chain : program.chains) {
        if (const auto rule = broken_rule(chain)) fail("chain " + isa::quoted(chain.name), *rule);
        if (!names.insert(chain.name).second) fail("chain " + isa::quoted(chain.name), "the name is taken");
    }
}

void check_state(const Program& program) {
    std::vector<bool> has_input(program.inputs.size(), false);
    std::vector<bool> has_output(program.outputs.size(), false);
    for (const StateTensors& state : program.state) {
        const auto part = [&] { return fmt::format("state of input {}", state.input); };
        if (const auto rule = broken_rule(state, program)) fail(part(), *rule);
        if (has_input[state.input]) fail(part(), "the input is in another state");
        if (has_output[state.output])
            fail(part(), fmt::format("output {} is in another state", state.output));
        has_input[state.input] = true;
        has_output[state.output] = true;
    }
}

std::string name_of_resident(const ResidentTensor& resident) {
    return fmt::format("{} {}, which stays in memory",
                       resident_side_names.at(static_cast<std::size_t>(resident.side)), resident.number);
}

/// Null if there is none.
const HostBuffer* find_buffer(const ResidentTensor& resident, const Program& program) {
    const BufferKind kind = resident.side == ResidentSide::Input ? BufferKind::Input : BufferKind::Output;
    std::uint32_t number = 0;
    for (const HostBuffer& buffer : program.buffers) {
        if (buffer.kind == kind && number++ == resident.number) return &buffer;
    }
    return nullptr;
}

/// Of so many cores, each has a part of the buffer. A program for any number of them, 0, has one at least.
std::optional<std::string> broken_rule_of_parts(const ResidentTensor& resident, const Program& program,
                                                std::uint32_t cores) {
    const HostBuffer* const buffer = find_buffer(resident, program);
    if (buffer == nullptr) return "there is no buffer for it";
    const std::uint64_t parts = std::max(cores, 1U);
    const std::uint64_t bytes = resident.words() * word_bytes;
    if (buffer->all_bytes() / bytes >= parts) return std::nullopt;
    return fmt::format("{} of {} bytes each; buffer {} has {}", counted(parts, "core"), bytes,
                       isa::quoted(buffer->name), buffer->all_bytes());
}

void check_residents(const Program& program) {
    std::set<std::pair<ResidentSide, std::uint32_t>> seen;
    for (const ResidentTensor& resident : program.residents) {
        const auto part = [&] { return name_of_resident(resident); };
        if (const auto rule = broken_rule(resident, program)) fail(part(), *rule);
        if (!seen.emplace(resident.side, resident.number).second) fail(part(), "it stays in memory twice");
        if (const auto rule = broken_rule_of_parts(resident, program, program.geometry.tensor.cores))
            fail(part(), *rule);
    }
}

void check_split_axes(const Program& program, std::uint32_t replicas) {
    for (const auto* tensors : {&program.inputs, &program.outputs}) {
        for (const BorderTensor& tensor : *tensors) {
            if (!tensor.split_axis) continue;
            const auto part = [&] { return "tensor " + isa::quoted(tensor.name); };
            if (replicas == 1) fail(part(), "it is split; only arrays of several replicas are");
            if (*tensor.split_axis >= tensor.shape.size()) {
                fail(part(), fmt::format("it is split along axis {}; it must be below {}, the number of axes",
                                         *tensor.split_axis, tensor.shape.size()));
            }
        }
    }
}

void check_arrays(const Program& program) {
    const std::uint32_t replicas = program.arrays ? program.arrays->replicas : 1;
    check_split_axes(program, replicas);
    if (!program.arrays) return;
    if (!program.geometry.has_tensor_core()) fail("arrays", "only programs for a tensor core have them");
    if (replicas == 0) fail("arrays", "there are 0 replicas; there must be at least 1");
    if (replicas > 1 && (program.batch != replicas || program.inferences % replicas != 0)) {
        fail("arrays",
             fmt::format("there are {} replicas, batch is {} and inferences {}; a batch has an inference for "
                         "each replica, and all batches are whole",
                         replicas, program.batch, program.inferences));
    }
    std::optional<std::uint32_t> before;
    for (const ConstantOutput& constant : program.arrays->constants) {
        const auto part = [&] { return "constant output " + isa::quoted(constant.tensor.name); };
        if (const auto rule = broken_rule(constant)) fail(part(), *rule);
        if (before && constant.place <= *before)
            fail(part(), fmt::format("place is {}; the one before has {}", constant.place, *before));
        before = constant.place;
    }
}

void check_instruction(const Program& program, std::size_t index) {
    const Instruction& instruction = program.instructions[index];
    const auto part = [&] { return fmt::format("instruction {}: {}", index, to_string(instruction)); };
    try {
        check_fields(instruction);
    } catch (const ProgramError& error) {
        fail(part(), error.what());
    }
    if (const auto rule = broken_rule(instruction, program)) fail(part(), *rule);
}

}  // namespace

std::optional<std::string> broken_rule(const Geometry& geometry) {
    for (const auto& [what, side] : {std::pair{"rows", geometry.rows}, {"columns", geometry.columns}}) {
        if (side == 0 || side > largest_array_side) {
            return fmt::format("{} is {}; it must be from 1 to {}", what, side, largest_array_side);
        }
    }
    if (geometry.has_tensor_core()) {
        if (geometry.has_tiles()) return "it has tiles and a tensor core";
        return broken_rule(geometry.tensor);
    }
    if (!geometry.has_tiles()) return std::nullopt;
    // Text has no place for the sides of an array that a program for tiles does not have.
    if (geometry.rows != Geometry().rows || geometry.columns != Geometry().columns) {
        return fmt::format("the array is {} x {}; in a program for tiles, it must be {} x {}", geometry.rows,
                           geometry.columns, Geometry().rows, Geometry().columns);
    }
    return broken_rule(geometry.tiles);
}

std::optional<std::string> broken_rule(const TileGrid& grid) {
    for (const auto& [what, side] :
         {std::pair{"lines of tiles", grid.lines}, {"columns of tiles", grid.columns}}) {
        if (side == 0 || side > largest_tile_side) {
            return fmt::format("{} is {}; it must be from 1 to {}", what, side, largest_tile_side);
        }
    }
    if (grid.lanes == 0 || grid.lanes > largest_lanes || grid.lanes % tile_unit_lanes != 0) {
        return fmt::format("lanes is {}; it must be a multiple of {} up to {}", grid.lanes, tile_unit_lanes,
                           largest_lanes);
    }
    if (grid.units == 0 || grid.units > wide_unit_limit / grid.tiles()) {
        return fmt::format("units is {}; it must be from 1 to {}", grid.units,
                           wide_unit_limit / grid.tiles());
    }
    return std::nullopt;
}

std::optional<std::string> broken_rule(const TensorShape& shape) {
    if (shape.lanes == 0 || shape.lanes > largest_tensor_lanes)
        return fmt::format("lanes is {}; it must be from 1 to {}", shape.lanes, largest_tensor_lanes);
    if (shape.cores > largest_tensor_cores)
        return fmt::format("cores is {}; it must be at most {}", shape.cores, largest_tensor_cores);
    return std::nullopt;
}

std::optional<std::string> broken_rule(const WeightTile& tile, const Geometry& geometry) {
    if (tile.rows == 0 || tile.rows > geometry.rows) {
        return fmt::format("rows is {}; it must be from 1 to the array's {}", tile.rows, geometry.rows);
    }
    if (tile.columns == 0 || tile.columns > geometry.columns) {
        return fmt::format("columns is {}; it must be from 1 to the array's {}", tile.columns,
                           geometry.columns);
    }
    if (tile.type != DataType::Int8 && tile.type != DataType::Int16) {
        return fmt::format("the weights are {}; they must be int8 or int16", name_of(tile.type));
    }
    const std::uint64_t elements = std::uint64_t{tile.rows} * tile.columns;
    if (tile.useful_macs > elements) {
        return fmt::format("useful is {}; it must be at most rows * columns, which is {}", tile.useful_macs,
                           elements);
    }
    if (auto rule = broken_rule_of_block(tile, geometry)) return rule;
    if (tile.values.empty()) return "it has no values; such a program can only be timed";
    if (tile.values.size() != elements * bytes_of(tile.type)) {
        return fmt::format("the values are {} bytes; they must be rows * columns * bytes, which is {}",
                           tile.values.size(), elements * bytes_of(tile.type));
    }
    return std::nullopt;
}

std::optional<std::string> broken_rule(const HostBuffer& buffer) {
    if (buffer.name.empty()) return "the name is empty";
    if (static_cast<std::size_t>(buffer.kind) >= buffer_kind_names().size()) {
        return fmt::format("kind is {}; it must be below {}", static_cast<unsigned>(buffer.kind),
                           buffer_kind_names().size());
    }
    if (buffer.bytes == 0) return "bytes is 0; it must be at least 1";
    const std::uint64_t most = host_memory_limit - std::min(buffer.address, host_memory_limit);
    if (buffer.bytes > most || buffer.padding > most - buffer.bytes) {
        return fmt::format("{} bytes from {:#x} on end above address {:#x}", buffer.bytes, buffer.address,
                           host_memory_limit - 1);
    }
    const std::uint64_t carried = buffer.kind == BufferKind::Constant ? buffer.bytes : 0;
    if (buffer.contents.size() != carried) {
        return fmt::format("the contents are {} bytes; they must be {}", buffer.contents.size(), carried);
    }
    return std::nullopt;
}

std::optional<std::string> broken_rule(const BorderTensor& tensor) {
    std::uint64_t elements = 1;
    for (const std::uint32_t size : tensor.shape) {
        if (size == 0) return "a size of the shape is 0; each must be at least 1";
        if (size > host_memory_limit / elements)
            return "the shape has more elements than host memory has bytes";
        elements *= size;
    }
    if (!std::isfinite(tensor.scale) || tensor.scale <= 0) {
        return fmt::format("scale is {}; it must be a finite number above 0", tensor.scale);
    }
    if (tensor.conversion != Conversion::Nearest && !is_integer(tensor.type)) {
        return fmt::format("it has conversion {}; only inputs of integers have one",
                           name_of(tensor.conversion));
    }
    return std::nullopt;
}

std::optional<std::string> broken_rule(const InitialRows& initial, MemoryId memory,
                                       const Geometry& geometry) {
    const std::uint64_t bytes = row_bytes(memory, geometry);
    if (memory == MemoryId::Accumulators && initial.values.size() % bytes != 0) {
        return fmt::format("the values are {} bytes; a row takes {}", initial.values.size(), bytes);
    }
    if (initial.values.empty()) return "there are no values";
    const std::uint64_t rows = rows_of(initial, memory, geometry).count();
    const std::uint64_t limit = memory == MemoryId::Accumulators ? accumulator_row_limit
                                : memory == MemoryId::Hbm        ? hbm_row_limit
                                                                 : buffer_row_limit;
    if (rows <= limit && initial.first_row <= limit - rows) return std::nullopt;
    return fmt::format("{} rows from {} on; addresses end at row {}", rows, initial.first_row, limit - 1);
}

std::optional<std::string> broken_rule(const HostSegment& segment, const Program& program) {
    if (segment.writes.empty()) return "it writes no tensor";
    const auto is_zero = [](std::uint64_t macs) { return macs == 0; };
    if (!segment.macs.empty() && segment.macs.size() != segment.layers.size()) {
        return fmt::format("it has MACs of {} layers; it computes {}", segment.macs.size(),
                           segment.layers.size());
    }
    if (!segment.macs.empty() && std::ranges::all_of(segment.macs, is_zero)) {
        return "its layers' MACs are all 0; then none may be given";
    }
    if (!segment.graph.empty() && segment.graph.back() != '\n') {
        return "the text of its graph must end in a line end";
    }
    const auto check = [&](const SegmentTensor& tensor, std::string_view verb, BufferKind forbidden,
                           std::string_view kinds) -> std::optional<std::string> {
        if (tensor.buffer >= program.buffers.size()) {
            return fmt::format("it {} buffer {}; the program has {}", verb, tensor.buffer,
                               program.buffers.size());
        }
        const HostBuffer& buffer = program.buffers[tensor.buffer];
        if (buffer.kind == BufferKind::Constant || buffer.kind == forbidden) {
            return fmt::format("it {} {}, a buffer of kind {}; the kind must be {}", verb,
                               isa::quoted(buffer.name),
                               buffer_kind_names()[static_cast<std::size_t>(buffer.kind)], kinds);
        }
        if (tensor.bytes == 0 || tensor.bytes > buffer.bytes) {
            return fmt::format("an inference takes {} bytes of {}; it must be from 1 to the buffer's {}",
                               tensor.bytes, isa::quoted(buffer.name), buffer.bytes);
        }
        return std::nullopt;
    };
    for (const SegmentTensor& tensor : segment.reads) {
        if (auto rule = check(tensor, "reads", BufferKind::Constant, "input, output or exchange"))
            return rule;
    }
    std::unordered_map<std::uint32_t, std::size_t> uses;  // by buffer
    for (const auto* tensors : {&segment.reads, &segment.writes}) {
        for (const SegmentTensor& tensor : *tensors) ++uses[tensor.buffer];
    }
    for (const SegmentTensor& tensor : segment.writes) {
        if (auto rule = check(tensor, "writes", BufferKind::Input, "output or exchange")) return rule;
        if (uses[tensor.buffer] > 1) {
            return fmt::format("it writes {} and uses it a second time",
                               isa::quoted(program.buffers[tensor.buffer].name));
        }
    }
    return std::nullopt;
}

std::optional<std::string> broken_rule(const HostWork& work, const Program& program) {
    if (work.segment >= program.host_segments.size()) {
        return fmt::format("the program has {} host segments", program.host_segments.size());
    }
    const HostSegment& segment = program.host_segments[work.segment];
    const std::uint64_t last = std::uint64_t{work.first_inference} + work.images;
    for (const auto* tensors : {&segment.reads, &segment.writes}) {
        for (const SegmentTensor& tensor : *tensors) {
            const HostBuffer& buffer = program.buffers[tensor.buffer];
            if (last <= buffer.bytes / tensor.bytes) continue;
            return fmt::format("buffer {} has room for {} inferences", isa::quoted(buffer.name),
                               buffer.bytes / tensor.bytes);
        }
    }
    return std::nullopt;
}

std::optional<std::string> broken_rule(const StateTensors& state, const Program& program) {
    if (!program.geometry.has_tensor_core()) return "only programs for a tensor core have state";
    if (state.input >= program.inputs.size())
        return fmt::format("the program has {}", counted(program.inputs.size(), "input"));
    if (state.output >= program.outputs.size()) {
        return fmt::format("output {} replaces it; the program has {}", state.output,
                           counted(program.outputs.size(), "output"));
    }
    const BorderTensor& before = program.inputs[state.input];
    const BorderTensor& after = program.outputs[state.output];
    if (before.shape != after.shape || before.type != after.type)
        return fmt::format("output {}, which replaces it, has another shape or type", state.output);
    if (program.batch == 0 || program.inferences == 0 || program.inferences % program.batch != 0) {
        return fmt::format("batch is {} and inferences {}; with state, all batches are whole", program.batch,
                           program.inferences);
    }
    return std::nullopt;
}

std::optional<std::string> broken_rule(const ResidentTensor& resident, const Program& program) {
    if (!program.geometry.has_tensor_core()) return "only programs for a tensor core keep tensors in memory";
    const bool is_input = resident.side == ResidentSide::Input;
    const std::vector<BorderTensor>& tensors = is_input ? program.inputs : program.outputs;
    if (resident.number >= tensors.size()) {
        return fmt::format("the program has {}", counted(tensors.size(), is_input ? "input" : "output"));
    }
    const auto is_this = [&](const StateTensors& state) {
        return (is_input ? state.input : state.output) == resident.number;
    };
    if (std::ranges::any_of(program.state, is_this)) return "it is in a state";
    if (resident.inferences == 0) return "inferences is 0; it must be at least 1";
    std::uint64_t elements = 1;
    for (const std::uint32_t extent : tensors[resident.number].shape) elements *= extent;
    std::uint64_t described = resident.columns;
    for (const RowAxis& axis : resident.axes) {
        if (axis.extent == 0) return "an axis has 0 rows; it must have at least 1";
        described = saturating_product(described, axis.extent);
    }
    if (described != elements) {
        return fmt::format("its axes and columns have {} elements; the tensor has {}", described, elements);
    }
    if (resident.inferences > host_memory_limit / word_bytes / elements)
        return fmt::format("{} inferences of it have more bytes than host memory", resident.inferences);
    if (resident.end_row(program.geometry.tensor.lanes) > hbm_row_limit) return "it has rows above 2^32 - 1";
    return std::nullopt;
}

const HostBuffer& buffer_of(const ResidentTensor& resident, const Program& program) {
    const HostBuffer* const buffer = find_buffer(resident, program);
    if (buffer == nullptr) throw std::logic_error("a tensor that stays in memory without a buffer");
    return *buffer;
}

std::uint64_t host_address(const ResidentTensor& resident, const Program& program, std::uint64_t core) {
    return buffer_of(resident, program).address + core * resident.words() * word_bytes;
}

std::optional<std::string> broken_rule(const ConstantOutput& constant) {
    const BorderTensor& tensor = constant.tensor;
    if (auto rule = broken_rule(tensor)) return rule;
    if (tensor.split_axis || tensor.conversion != Conversion::Nearest)
        return "it is split or has a conversion; a constant output is neither";
    std::uint64_t bytes = word_bytes;
    for (const std::uint32_t size : tensor.shape) bytes *= size;  // at most 2^42: see above
    if (constant.words.size() == bytes) return std::nullopt;
    return fmt::format("the words are {} bytes; they must be {}", constant.words.size(), bytes);
}

std::optional<std::string> broken_rule(const RunChain& run, const Program& program) {
    if (run.chain >= program.chains.size())
        return fmt::format("the program has {} chains", program.chains.size());
    const Chain& chain = program.chains[run.chain];
    for (std::size_t i = chain.sources.size(); i < run.sources.size(); ++i) {
        if (run.sources[i] != 0)
            return fmt::format("chain {} has {} sources", as_word(chain.name), chain.sources.size());
    }
    if (chain.results.size() < run.results.size() && run.results.back() != 0) {
        return fmt::format("chain {} has one result", as_word(chain.name));
    }
    return std::nullopt;
}

std::optional<std::string> broken_rule(const WriteWeights& write, const Program& program) {
    if (write.tile >= program.tiles.size())
        return fmt::format("the program has {} tiles", program.tiles.size());
    const WeightTile& tile = program.tiles[write.tile];
    if (tile.type != DataType::Int8)
        return fmt::format("tile {} has weights of {}; it must be of int8", write.tile, name_of(tile.type));
    if (write.tile_rows() <= tile.rows && write.tile_columns() <= tile.columns) return std::nullopt;
    return fmt::format("its blocks take {} x {} of tile {}, which has {} x {}", write.tile_rows(),
                       write.tile_columns(), write.tile, tile.rows, tile.columns);
}

std::optional<std::string> broken_rule(const Instruction& instruction, const Program& program) {
    if (auto rule = broken_rule_of_machine(instruction, program.geometry)) return rule;
    if (const auto* work = std::get_if<HostWork>(&instruction)) return broken_rule(*work, program);
    if (const auto* run = std::get_if<RunChain>(&instruction)) return broken_rule(*run, program);
    if (const auto* read = std::get_if<ReadWeights>(&instruction)) {
        if (std::uint64_t{read->first_tile} + read->tiles > program.tiles.size()) {
            return fmt::format("the program has {} tiles", program.tiles.size());
        }
    }
    if (const auto* write = std::get_if<WriteWeights>(&instruction)) return broken_rule(*write, program);
    if (const auto* tag = std::get_if<DebugTag>(&instruction)) {
        if (!program.layers.empty() && tag->tag > program.layers.size()) {
            return fmt::format("the program has {} layers", program.layers.size());
        }
    }
    return std::nullopt;
}

void validate(const Program& program) {
    if (const auto rule = broken_rule(program.geometry)) {
        fail(program.geometry.has_tiles() ? "tiles" : "array", *rule);
    }
    const bool has_buffer_rows =
        !program.initial[MemoryId::UnifiedBuffer].empty() || !program.initial[MemoryId::Accumulators].empty();
    if (!program.geometry.has_unified_buffer() && (!program.tiles.empty() || has_buffer_rows)) {
        fail("tiles",
             "the program has weight tiles or initial rows, which are for a machine with a unified buffer");
    }
    if (!program.geometry.has_tensor_core() && !program.initial[MemoryId::Hbm].empty()) {
        fail("initial rows", "the program has some of high-bandwidth memory, which a tensor core has");
    }
    check_chains(program);
    for (std::size_t i = 0; i < program.tiles.size(); ++i) {
        if (const auto rule = broken_rule(program.tiles[i], program.geometry)) {
            fail(fmt::format("tile {}", i), *rule);
        }
    }
    check_buffers(program);
    for (const MemoryId memory : initial_memories) check_initial_rows(program, memory);
    for (const auto* tensors : {&program.inputs, &program.outputs}) {
        for (const BorderTensor& tensor : *tensors) {
            if (const auto rule = broken_rule(tensor)) fail("tensor " + isa::quoted(tensor.name), *rule);
        }
    }
    for (const BorderTensor& tensor : program.outputs) {
        if (tensor.conversion == Conversion::Nearest) continue;
        fail("tensor " + isa::quoted(tensor.name),
             fmt::format("it has conversion {}; only inputs have one", name_of(tensor.conversion)));
    }
    check_state(program);
    check_residents(program);
    check_arrays(program);
    for (const HostSegment& segment : program.host_segments) {
        if (const auto rule = broken_rule(segment, program)) {
            fail("host segment " + isa::quoted(segment.name), *rule);
        }
    }
    for (std::size_t i = 0; i < program.instructions.size(); ++i) check_instruction(program, i);
}

void check_products(const Program& program) {
    std::deque<const LoadWeights*> loaded;
    const LoadWeights* in_array = nullptr;
    for (std::size_t i = 0; i < program.instructions.size(); ++i) {
        const Instruction& instruction = program.instructions[i];
        if (std::holds_alternative<Halt>(instruction)) return;
        if (const auto* const load = std::get_if<LoadWeights>(&instruction)) loaded.push_back(load);
        const auto* const product = std::get_if<Product>(&instruction);
        if (product == nullptr) continue;
        const auto fail = [&](const std::string& rule) {
            throw ProgramError(fmt::format("instruction {} ({}): {}", i, to_string(instruction), rule));
        };
        if (!product->keep_weights) {
            if (loaded.empty()) fail("no weights are loaded for it");
            in_array = loaded.front();
            loaded.pop_front();
        }
        if (in_array == nullptr) fail("it keeps the weights in the array, where there are none yet");
        if (in_array->depth == product->depth && in_array->columns == product->columns) continue;
        fail(fmt::format("the weights that it meets are {} x {}; it must have their depth and columns",
                         in_array->depth, in_array->columns));
    }
}

void check_cores(const Program& program, std::uint32_t cores) {
    const std::uint32_t made_for = program.geometry.tensor.cores;
    if (made_for != 0 && made_for != cores) {
        throw ProgramError(
            fmt::format("the program was made for {}; the machine has {}", counted(made_for, "core"), cores));
    }
    for (const ResidentTensor& resident : program.residents) {
        if (const auto rule = broken_rule_of_parts(resident, program, cores))
            fail(name_of_resident(resident), *rule);
    }
    for (std::size_t i = 0; i < program.instructions.size(); ++i) {
        const auto* const collective = std::get_if<Collective>(&program.instructions[i]);
        if (collective == nullptr || collective->cores == cores) continue;
        throw ProgramError(
            fmt::format("instruction {} ({}): cores is {}; it must be the machine's number, {}", i,
                        to_string(program.instructions[i]), collective->cores, cores));
    }
}

void check_initial_sums(const Program& program, std::uint32_t sum_bits) {
    for (const InitialRows& initial : program.initial[MemoryId::Accumulators]) {
        for (std::size_t i = 0; i < initial.values.size() / sizeof(std::int32_t); ++i) {
            std::int32_t sum = 0;
            std::memcpy(&sum, initial.values.data() + i * sizeof sum, sizeof sum);
            if (wrapped_sum(sum, sum_bits) == sum) continue;
            throw ProgramError(
                fmt::format("the initial sum of accumulator row {}, column {}, is {}; the "
                            "machine's accumulators have {} bits",
                            initial.first_row + i / program.geometry.columns, i % program.geometry.columns,
                            sum, sum_bits));
        }
    }
}

std::span<const std::string_view> buffer_kind_names() {
    static constexpr std::array<std::string_view, 4> names = {"input", "output", "constant", "exchange"};
    return names;
}

bool has_initial_rows(const Program& program) {
    return !std::ranges::all_of(program.initial, &std::vector<InitialRows>::empty);
}

RowRange rows_of(const InitialRows& initial, MemoryId memory, const Geometry& geometry) {
    const std::uint64_t rows = divide_up(std::uint64_t{initial.values.size()}, row_bytes(memory, geometry));
    return {.first = initial.first_row, .last = initial.first_row + rows};
}

std::uint64_t inferences_of_input(const Program& program, std::size_t input) {
    const bool is_state =
        std::ranges::find(program.state, input, &StateTensors::input) != program.state.end();
    return is_state ? program.batch : program.inferences;
}

std::uint64_t inferences_of_output(const Program& program, std::size_t output) {
    const bool is_state =
        std::ranges::find(program.state, output, &StateTensors::output) != program.state.end();
    return is_state ? program.batch : program.inferences;
}

bool uses_host(const Program& program) {
    return !program.host_segments.empty() ||
           std::ranges::any_of(program.instructions, [](const Instruction& instruction) {
               return queue_of(instruction) == QueueId::Host;
           });
}

bool uses_weight_zero_points(const Program& program) {
    return std::ranges::any_of(program.instructions, [](const Instruction& instruction) {
        const auto* const set = std::get_if<SetConfig>(&instruction);
        return set != nullptr && set->reg == Register::MultiplyWeightZeroPoint && set->value != 0;
    });
}

std::vector<std::uint64_t> tile_ends(const Program& program, std::uint64_t address) {
    std::vector<std::uint64_t> ends;
    ends.reserve(program.tiles.size());
    for (const WeightTile& tile : program.tiles) {
        ends.push_back(address += memory_bytes(tile, program.geometry));
    }
    return ends;
}

std::vector<bool> written_tiles(const Program& program) {
    std::vector<bool> written(program.tiles.size(), false);
    for (const Instruction& instruction : program.instructions) {
        const auto* const write = std::get_if<WriteWeights>(&instruction);
        if (write != nullptr && write->tile < written.size()) written[write->tile] = true;
    }
    return written;
}

std::size_t line_of(const Program& program, std::size_t instruction) {
    const auto& lines = program.lines.of_instructions;
    return instruction < lines.size() ? lines[instruction] : 0;
}

std::string layer_name(const Program& program, std::uint16_t tag) {
    if (tag == 0) return "(outside layers)";
    if (tag <= program.layers.size()) return program.layers[tag - 1U].name;
    return fmt::format("tag {}", tag);
}

}  // namespace systole::isa
