#include "hw/isa/assembly/directives.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <iterator>
#include <numeric>
#include <stdexcept>
#include <variant>

#include "base/arithmetic.h"
#include "base/conversion.h"
#include "base/limits.h"
#include "hw/isa/assembly/lexer.h"
#include "hw/isa/fields.h"
#include "hw/isa/program_rules.h"

namespace systole::isa {
namespace {

constexpr std::uint64_t largest32 = largest_of(4);

/// Numbers with a character between them: 28x28x1.
std::vector<std::uint32_t> numbers_of(const Operands& operands, const Token& token, char between,
                                      std::uint64_t minimum, std::uint64_t maximum) {
    std::vector<std::uint32_t> numbers;
    std::string_view rest = token.value;
    while (true) {
        const std::size_t end = rest.find(between);
        Token number = token;
        number.value = rest.substr(0, end);
        numbers.push_back(static_cast<std::uint32_t>(operands.number(number, minimum, maximum)));
        if (end == std::string_view::npos) return numbers;
        rest.remove_prefix(end + 1);
    }
}

double real_number(const Operands& operands, const Token& token) {
    const char* const end = token.value.data() + token.value.size();
    double value = 0;
    const auto [stopped, error] = std::from_chars(token.value.data(), end, value);
    if (token.is_quoted || error != std::errc() || stopped != end) {
        operands.fail(token, "must be a number");
    }
    return value;
}

BorderTensor border_tensor(Operands& operands) {
    BorderTensor tensor;
    tensor.name = operands.word("name").value;
    if (const Token* shape = operands.keyed("shape"))
        tensor.shape = numbers_of(operands, *shape, 'x', 1, largest32);
    if (const Token* scale = operands.keyed("scale")) tensor.scale = real_number(operands, *scale);
    if (const Token* zero = operands.keyed("zero_point")) {
        tensor.zero_point = static_cast<std::int32_t>(operands.bits(*zero, zero->value, 4));
    }
    const bool is_signed = operands.flag("signed");
    const bool is_wide = operands.flag("wide");
    if (is_signed && is_wide) operands.fail("wide contradicts signed: wide elements always are signed");
    if (is_signed) tensor.type = DataType::Int8;
    if (is_wide) tensor.type = DataType::Int16;
    if (const Token* const name = operands.keyed("type")) {
        const auto type = find_data_type(name->value);
        if (!type) operands.fail(*name, "must be the name of a number format, like float32");
        if (is_signed || is_wide) operands.fail(*name, "contradicts signed and wide");
        tensor.type = *type;
    }
    if (const Token* const name = operands.keyed("conversion")) {
        const auto conversion = find_conversion(name->value);
        if (!conversion) operands.fail(*name, "must be nearest, half_to_even or half_away");
        tensor.conversion = *conversion;
    }
    if (const Token* const split = operands.keyed("split"))
        tensor.split_axis = static_cast<std::uint32_t>(operands.number(*split, 0, largest32 - 1));
    if (const auto rule = broken_rule(tensor)) operands.fail(*rule);
    return tensor;
}

}  // namespace

bool Directives::take(Operands& operands) {
    struct Entry {
        std::string_view name;
        void (Directives::*handle)(Operands&);
    };
    static constexpr std::array<Entry, 27> entries = {{{".array", &Directives::array},
                                                       {".tiles", &Directives::tiles},
                                                       {".tensor_core", &Directives::tensor_core},
                                                       {".chain", &Directives::chain},
                                                       {".source", &Directives::chain_source},
                                                       {".step", &Directives::chain_step},
                                                       {".result", &Directives::chain_result},
                                                       {".model", &Directives::model},
                                                       {".input", &Directives::input},
                                                       {".output", &Directives::output},
                                                       {".state", &Directives::state},
                                                       {".resident", &Directives::resident},
                                                       {".arrays", &Directives::arrays},
                                                       {".constant_output", &Directives::constant_output},
                                                       {".host_operation", &Directives::host_operation},
                                                       {".host_segment", &Directives::host_segment},
                                                       {".computes", &Directives::segment_layers},
                                                       {".reads", &Directives::segment_reads},
                                                       {".writes", &Directives::segment_writes},
                                                       {".graph", &Directives::segment_graph},
                                                       {".layer", &Directives::layer},
                                                       {".buffer", &Directives::buffer},
                                                       {".unified_buffer", &Directives::unified_buffer},
                                                       {".accumulators", &Directives::accumulators},
                                                       {".hbm", &Directives::hbm},
                                                       {".constant", &Directives::constant},
                                                       {".tile", &Directives::tile}}};
    if (open_) {
        if (append_values(operands, open_values(), open_->element, budget_)) {
            operands.finish();
            return true;
        }
        close();
    }
    const auto entry = std::find_if(entries.begin(), entries.end(),
                                    [&](const Entry& each) { return each.name == operands.name(); });
    if (entry == entries.end()) return false;
    (this->*entry->handle)(operands);
    operands.finish();
    return true;
}

void Directives::close() {
    if (!open_) return;
    if (const auto rule = broken_rule_of_open()) fail_at(open_->place, *rule);
    open_.reset();
}

std::vector<std::uint8_t>& Directives::open_values() {
    switch (open_->kind) {
        case Kind::Tile:
            return program_.tiles.back().values;
        case Kind::HostBuffer:
            return program_.buffers.back().contents;
        case Kind::InitialRows:
            return program_.initial[open_->memory].back().values;
        case Kind::ConstantOutput:
            return program_.arrays->constants.back().words;
    }
    throw std::logic_error("a declaration of no kind");
}

std::optional<std::string> Directives::broken_rule_of_open() const {
    if (open_->kind == Kind::Tile) return broken_rule(program_.tiles.back(), program_.geometry);
    if (open_->kind == Kind::HostBuffer) return broken_rule(program_.buffers.back());
    if (open_->kind == Kind::ConstantOutput) return broken_rule(program_.arrays->constants.back());
    const InitialRows& initial = program_.initial[open_->memory].back();
    if (initial.values.size() == open_->bytes) return std::nullopt;
    return fmt::format("the values are {} bytes; they must be {}", initial.values.size(), open_->bytes);
}

void Directives::begin_geometry(Operands& operands) {
    if (has_array_) operands.fail("there is one .array, .tiles or .tensor_core for a program");
    has_array_ = true;
}

void Directives::check_no_buffer(Operands& operands) const {
    if (program_.tiles.empty() && !has_initial_rows(program_)) return;
    operands.fail("such a program has no .tile, .unified_buffer and .accumulators");
}

void Directives::array(Operands& operands) {
    begin_geometry(operands);
    if (!program_.tiles.empty()) operands.fail("must stand above the first .tile");
    if (has_initial_rows(program_)) {
        operands.fail("must stand above the first .unified_buffer and .accumulators");
    }
    program_.geometry.rows = static_cast<std::uint32_t>(operands.number("rows", 1, largest_array_side));
    program_.geometry.columns = static_cast<std::uint32_t>(operands.number("columns", 1, largest_array_side));
}

void Directives::tiles(Operands& operands) {
    begin_geometry(operands);
    check_no_buffer(operands);
    TileGrid& grid = program_.geometry.tiles;
    grid.lines = static_cast<std::uint32_t>(operands.number("lines", 1, largest_tile_side));
    grid.columns = static_cast<std::uint32_t>(operands.number("columns", 1, largest_tile_side));
    grid.lanes = static_cast<std::uint32_t>(operands.keyed_number("lanes", 64, 1, largest_lanes));
    grid.units = static_cast<std::uint32_t>(operands.keyed_number("units", 8192, 1, wide_unit_limit));
    if (const auto rule = broken_rule(grid)) operands.fail(*rule);
}

void Directives::tensor_core(Operands& operands) {
    begin_geometry(operands);
    check_no_buffer(operands);
    Geometry& geometry = program_.geometry;
    geometry.rows = static_cast<std::uint32_t>(operands.number("rows", 1, largest_array_side));
    geometry.columns = static_cast<std::uint32_t>(operands.number("columns", 1, largest_array_side));
    geometry.tensor.lanes =
        static_cast<std::uint32_t>(operands.keyed_number("lanes", 128, 1, largest_tensor_lanes));
    geometry.tensor.cores =
        static_cast<std::uint32_t>(operands.keyed_number("cores", 0, 0, largest_tensor_cores));
}

void Directives::chain(Operands& operands) {
    if (!program_.geometry.has_tensor_core()) operands.fail("is for machines with a tensor core");
    const Token& name = operands.word("name");
    if (name.value.empty()) operands.fail(name, "the name is empty");
    if (std::ranges::find(program_.chains, name.value, &Chain::name) != program_.chains.end()) {
        operands.fail(name, "the name is taken");
    }
    program_.chains.push_back({.name = name.value});
}

Chain& Directives::last_chain(Operands& operands) {
    if (program_.chains.empty()) operands.fail("there is no .chain above it");
    return program_.chains.back();
}

void Directives::chain_source(Operands& operands) {
    Chain& chain = last_chain(operands);
    if (!chain.steps.empty() || !chain.results.empty())
        operands.fail("must stand above the chain's steps and results");
    chain.sources.push_back({.spread = static_cast<Spread>(operands.choice("spread", spread_names())),
                             .packed = operands.flag("packed")});
}

void Directives::chain_step(Operands& operands) {
    Chain& chain = last_chain(operands);
    if (!chain.results.empty()) operands.fail("must stand above the chain's results");
    ChainStep step;
    step.operation = static_cast<WordOperation>(operands.choice("operation", word_operation_names));
    if (step.operation == WordOperation::Constant) {
        const Token& constant = operands.word("constant");
        step.constant = static_cast<std::uint32_t>(operands.bits(constant, constant.value, word_bytes));
    }
    if (chain.values() >= most_chain_values)
        operands.fail(fmt::format("a chain has at most {} values", most_chain_values));
    for (std::size_t i = 0; i < traits_of(step.operation).operands; ++i) {
        if (chain.values() == 0) operands.fail("there is no value before it");
        step.operands.push_back(static_cast<std::uint8_t>(operands.number("value", 0, chain.values() - 1)));
    }
    chain.steps.push_back(std::move(step));
}

void Directives::chain_result(Operands& operands) {
    Chain& chain = last_chain(operands);
    if (chain.values() == 0) operands.fail("there is no value above it");
    chain.results.push_back(
        {.value = static_cast<std::uint8_t>(operands.number("value", 0, chain.values() - 1)),
         .packed = operands.flag("packed")});
}

void Directives::model(Operands& operands) {
    if (has_model_) operands.fail("there is one for a program");
    has_model_ = true;
    program_.model = operands.word("name").value;
    program_.batch = static_cast<std::uint32_t>(operands.keyed_number("batch", 0, 0, largest32));
    program_.inferences = operands.keyed_number("inferences", 0, 0, UINT64_MAX);
}

void Directives::layer(Operands& operands) {
    LayerInfo layer;
    layer.name = operands.word("name").value;
    layer.kind = operands.word("kind").value;
    layer.macs = operands.keyed_number("macs", 0, 0, UINT64_MAX);
    // A tag above the layers' declarations could not be checked against them.
    const auto is_tag = [](const Instruction& each) { return std::holds_alternative<DebugTag>(each); };
    if (program_.layers.empty() &&
        std::any_of(program_.instructions.begin(), program_.instructions.end(), is_tag)) {
        operands.fail("must stand above the first tag");
    }
    program_.layers.push_back(std::move(layer));
}

void Directives::input(Operands& operands) {
    program_.inputs.push_back(border_tensor(operands));
}

void Directives::output(Operands& operands) {
    program_.outputs.push_back(border_tensor(operands));
}

void Directives::state(Operands& operands) {
    StateTensors state;
    state.input = static_cast<std::uint32_t>(operands.number("input", 0, largest32));
    state.output = static_cast<std::uint32_t>(operands.number("output", 0, largest32));
    if (const auto rule = broken_rule(state, program_)) operands.fail(*rule);
    for (const StateTensors& other : program_.state) {
        if (other.input == state.input || other.output == state.output)
            operands.fail("its input or output is in another state");
    }
    program_.state.push_back(state);
}

void Directives::resident(Operands& operands) {
    ResidentTensor resident;
    resident.side = static_cast<ResidentSide>(operands.choice("side", resident_side_names));
    const auto number = [&](std::string_view key, std::uint64_t absent) {
        return static_cast<std::uint32_t>(operands.keyed_number(key, absent, 0, largest32));
    };
    resident.number = static_cast<std::uint32_t>(operands.number("number", 0, largest32));
    resident.inferences = number("inferences", 1);
    resident.first_row = number("hbm", 0);
    resident.inference_rows = number("inference_rows", 0);
    resident.panel_rows = number("panel_rows", 0);
    resident.columns = number("columns", 1);
    while (const Token* const extent = operands.word_if_any("rows")) {
        const std::uint64_t apart = operands.number("rows from one to the next", 0, largest32);
        resident.axes.push_back({.extent = static_cast<std::uint32_t>(operands.number(*extent, 0, largest32)),
                                 .apart = static_cast<std::uint32_t>(apart)});
    }
    if (const auto rule = broken_rule(resident, program_)) operands.fail(*rule);
    for (const ResidentTensor& other : program_.residents) {
        if (other.side == resident.side && other.number == resident.number)
            operands.fail("it stays in memory twice");
    }
    program_.residents.push_back(std::move(resident));
}

void Directives::arrays(Operands& operands) {
    if (!program_.geometry.has_tensor_core()) operands.fail("is for machines with a tensor core");
    if (program_.arrays) operands.fail("there is one for a program");
    program_.arrays.emplace().replicas =
        static_cast<std::uint32_t>(operands.keyed_number("replicas", 1, 1, largest32));
}

void Directives::constant_output(Operands& operands) {
    if (!program_.arrays) operands.fail("there is no .arrays above it");
    ConstantOutput constant;
    constant.place = static_cast<std::uint32_t>(operands.number("place", 0, largest32));
    constant.tensor = border_tensor(operands);
    std::uint64_t bytes = word_bytes;
    for (const std::uint32_t size : constant.tensor.shape) bytes *= size;
    const ElementRules word{.bytes = word_bytes};
    constant.words = generated_values(operands, bytes, word, budget_);
    program_.arrays->constants.push_back(std::move(constant));
    open_ = Open{.place = operands.place(), .kind = Kind::ConstantOutput, .element = word};
}

void Directives::host_operation(Operands& operands) {
    HostOperation operation;
    operation.kind = operands.word("kind").value;
    operation.layer = operands.word("layer").value;
    program_.host_operations.push_back(std::move(operation));
}

void Directives::host_segment(Operands& operands) {
    HostSegment segment;
    segment.name = operands.word("name").value;
    segment.operations = operands.keyed_number("operations", 0, 0, UINT64_MAX);
    segment.bytes = operands.keyed_number("bytes", 0, 0, UINT64_MAX);
    segment.constant_bytes = operands.keyed_number("constant_bytes", 0, 0, UINT64_MAX);
    program_.host_segments.push_back(std::move(segment));
}

HostSegment& Directives::last_segment(Operands& operands) {
    if (program_.host_segments.empty()) operands.fail("there is no .host_segment above it");
    return program_.host_segments.back();
}

void Directives::segment_layers(Operands& operands) {
    HostSegment& segment = last_segment(operands);
    segment.layers.push_back(operands.word("layer").value);
    while (const Token* const layer = operands.word_if_any("layer")) segment.layers.push_back(layer->value);
    const std::uint64_t macs = operands.keyed_number("macs", 0, 0, UINT64_MAX);
    if (macs == 0 && segment.macs.empty()) return;
    segment.macs.resize(segment.layers.size(), 0);
    segment.macs.back() = macs;
}

SegmentTensor Directives::segment_tensor(Operands& operands) const {
    const Token& name = operands.word("buffer");
    const auto found = std::ranges::find(program_.buffers, name.value, &HostBuffer::name);
    if (found == program_.buffers.end()) operands.fail(name, "must be a host buffer declared above");
    return {.buffer = static_cast<std::uint32_t>(found - program_.buffers.begin()),
            .bytes = operands.number("bytes", 1, found->bytes)};
}

void Directives::segment_reads(Operands& operands) {
    last_segment(operands).reads.push_back(segment_tensor(operands));
}

void Directives::segment_writes(Operands& operands) {
    last_segment(operands).writes.push_back(segment_tensor(operands));
}

void Directives::segment_graph(Operands& operands) {
    std::string& graph = last_segment(operands).graph;
    graph += operands.word("line").value;
    graph += '\n';
}

void Directives::buffer(Operands& operands) {
    const Token& name = operands.word("name");
    HostBuffer buffer;
    buffer.name = name.value;
    buffer.kind = static_cast<BufferKind>(operands.choice("kind", buffer_kind_names()));
    buffer.address = operands.number("address", 0, host_memory_limit - 1);
    buffer.bytes = operands.number("bytes", 1, host_memory_limit - buffer.address);
    if (program_.geometry.has_tensor_core()) {
        buffer.padding =
            operands.keyed_number("padding", 0, 0, host_memory_limit - buffer.address - buffer.bytes);
    }
    if (constants_.has(buffer.name)) operands.fail(name, "a constant has this name");
    if (!addresses_.emplace(buffer.name, buffer.address).second) operands.fail(name, "the name is taken");
    if (buffer.name.empty()) operands.fail(name, "the name is empty");
    check_overlap(operands, name, buffer);
    buffer_at_.emplace(buffer.address, program_.buffers.size());
    const bool is_constant = buffer.kind == BufferKind::Constant;
    const ElementRules byte;
    if (is_constant) buffer.contents = generated_values(operands, buffer.bytes, byte, budget_);
    program_.buffers.push_back(std::move(buffer));
    if (is_constant) open_ = Open{.place = operands.place(), .kind = Kind::HostBuffer, .element = byte};
}

/// The buffers declared so far do not overlap, so a new one can only overlap its two neighbours.
void Directives::check_overlap(Operands& operands, const Token& name, const HostBuffer& buffer) const {
    const auto fail = [&](const HostBuffer& other) {
        operands.fail(name, fmt::format("it overlaps {}, which is bytes {:#x} to {:#x}", as_word(other.name),
                                        other.address, other.address + other.all_bytes() - 1));
    };
    const auto behind = buffer_at_.lower_bound(buffer.address);
    if (behind != buffer_at_.end() && behind->first < buffer.address + buffer.all_bytes()) {
        fail(program_.buffers[behind->second]);
    }
    if (behind != buffer_at_.begin()) {
        const HostBuffer& before = program_.buffers[std::prev(behind)->second];
        if (before.address + before.all_bytes() > buffer.address) fail(before);
    }
}

void Directives::tile(Operands& operands) {
    if (!program_.geometry.has_unified_buffer()) operands.fail("is for machines with a unified buffer");
    WeightTile tile;
    tile.rows = static_cast<std::uint32_t>(operands.number("rows", 1, program_.geometry.rows));
    tile.columns = static_cast<std::uint32_t>(operands.number("columns", 1, program_.geometry.columns));
    const std::uint64_t elements = std::uint64_t{tile.rows} * tile.columns;
    if (const Token* const block = operands.keyed("block")) {
        tile.block_macs = numbers_of(operands, *block, ',', 0, elements);
    }
    const std::uint64_t in_block =
        std::accumulate(tile.block_macs.begin(), tile.block_macs.end(), std::uint64_t{0});
    if (in_block > elements) {
        operands.fail(fmt::format("block sums to {}; it must be at most ROWS * COLUMNS, which is {}",
                                  in_block, elements));
    }
    const std::uint64_t needed = tile.block_macs.empty() ? elements : in_block;
    tile.useful_macs = static_cast<std::uint32_t>(operands.keyed_number("useful", needed, 0, elements));
    tile.type = operands.keyed_number("bytes", 1, 1, 2) == 1 ? DataType::Int8 : DataType::Int16;
    const ElementRules weight{.bytes = bytes_of(tile.type), .is_signed = true};
    tile.values = generated_values(operands, elements * weight.bytes, weight, budget_);
    program_.tiles.push_back(std::move(tile));
    open_ = Open{.place = operands.place(), .kind = Kind::Tile, .element = weight};
}

void Directives::unified_buffer(Operands& operands) {
    if (!program_.geometry.has_unified_buffer()) operands.fail("is for machines with a unified buffer");
    const std::uint64_t first = operands.number("row", 0, buffer_row_limit - 1);
    const std::uint64_t most = (buffer_row_limit - first) * program_.geometry.rows;
    initial_rows(operands, MemoryId::UnifiedBuffer, first, operands.number("bytes", 1, most));
}

void Directives::accumulators(Operands& operands) {
    if (!program_.geometry.has_unified_buffer()) operands.fail("is for machines with a unified buffer");
    const std::uint64_t first = operands.number("row", 0, accumulator_row_limit - 1);
    const std::uint64_t rows = operands.number("rows", 1, accumulator_row_limit - first);
    initial_rows(operands, MemoryId::Accumulators, first,
                 rows * row_bytes(MemoryId::Accumulators, program_.geometry));
}

void Directives::hbm(Operands& operands) {
    if (!program_.geometry.has_tensor_core()) operands.fail("is for machines with a tensor core");
    const std::uint64_t first = operands.number("row", 0, hbm_row_limit - 1);
    const std::uint64_t most = (hbm_row_limit - first) * row_bytes(MemoryId::Hbm, program_.geometry);
    initial_rows(operands, MemoryId::Hbm, first, operands.number("bytes", 1, most));
}

void Directives::initial_rows(Operands& operands, MemoryId memory, std::uint64_t first, std::uint64_t bytes) {
    const std::uint64_t end = first + divide_up(bytes, row_bytes(memory, program_.geometry));
    RowRanges& taken = initial_rows_[memory];
    const auto behind = taken.lower_bound(end);
    if (behind != taken.begin() && std::prev(behind)->second > first) {
        operands.fail(fmt::format("it overlaps rows {} to {} of the statement of this name above",
                                  std::prev(behind)->first, std::prev(behind)->second - 1));
    }
    taken.emplace(first, end);
    const ElementRules element = memory == MemoryId::Accumulators
                                     ? ElementRules{.bytes = sizeof(std::int32_t), .is_signed = true}
                                     : ElementRules{};
    program_.initial[memory].push_back(
        {.first_row = first, .values = generated_values(operands, bytes, element, budget_)});
    open_ = Open{.place = operands.place(),
                 .kind = Kind::InitialRows,
                 .element = element,
                 .memory = memory,
                 .bytes = bytes};
}

void Directives::constant(Operands& operands) {
    const Token& name = operands.word("name");
    if (name.is_quoted || !is_name(name.value)) {
        operands.fail(name, "a constant's name is a letter or _, then letters, digits and _ . : / -");
    }
    if (constants_.has(name.value) || addresses_.contains(name.value))
        operands.fail(name, "the name is taken");
    constants_.add(name.value, operands.whole_number("value"));
}

}  // namespace systole::isa
