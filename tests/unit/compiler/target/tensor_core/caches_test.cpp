// Caches on tensor cores: they stay in memory, what a step adds is written behind them, and a program has the
// reference's bits however they are made and read.
#include <fmt/format.h>

#include <algorithm>
#include <catch2/catch.hpp>
#include <cstdint>
#include <map>
#include <random>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "compiler/ir/model_error.h"
#include "compiler/ir/text.h"
#include "compiler/operators/operator.h"
#include "compiler/target/tensor_core/family.h"
#include "compiler/target/tensor_core/transposed_weights.h"
#include "hw/isa/resident.h"
#include "tests/support/random_runs.h"
#include "tests/support/tensor_networks.h"
#include "tests/support/text_graphs.h"

using namespace systole;
using namespace systole::tests;

namespace {

/// Draws graphs of one to three caches, of which each is lengthened in one of many ways.
class RandomCaches {
public:
    RandomCaches(std::mt19937& random, const machine::MachineConfig& machine)
        : random_(random), sum_tile_(machine.matrix_unit.rows) {}

    ir::Graph draw() {
        graph_.name = "caches";
        for (std::uint32_t caches = 1 + below(3); caches > 0; --caches) add_cache();
        return std::move(graph_);
    }

    /// By way, how many caches were lengthened so.
    std::map<std::string, int> met;

private:
    using Extents = std::vector<std::uint32_t>;

    std::uint32_t below(std::uint32_t limit) { return static_cast<std::uint32_t>(random_() % limit); }

    static ir::Shape shape_of(const Extents& extents) {
        return ir::Shape(std::span<const std::uint32_t>(extents));
    }
    Extents with(Extents extents, std::uint32_t size) const {
        extents[axis_] = size;
        return extents;
    }
    ir::ValueId input(const std::string& name, const Extents& extents) {
        const ir::ValueId made = graph_.add_input(fmt::format("{}{}", name, graph_.inputs.size()),
                                                  shape_of(extents), DataType::Float32);
        graph_.values[made].type = type_;
        return made;
    }
    ir::ValueId append(const std::string& op, std::vector<ir::NamedAttribute> attributes,
                       std::vector<ir::ValueId> inputs, DataType type) {
        return graph_.append(op + std::to_string(graph_.nodes.size()), operators::registry().at(op),
                             std::move(attributes), std::move(inputs), DataType::Float32, {{.type = type}});
    }
    ir::ValueId concat(std::vector<ir::ValueId> inputs) {
        return append("concat", {{"axis", static_cast<std::int64_t>(axis_)}}, std::move(inputs), type_);
    }
    ir::ValueId reshaped(ir::ValueId from, const Extents& extents) {
        return append("reshape", {{"shape", std::vector<std::int64_t>(extents.begin(), extents.end())}},
                      {from}, type_);
    }
    /// Work on each element.
    ir::ValueId computed(ir::ValueId from) {
        const char* const step = type_ == DataType::Int32 ? "add_int 0 0" : "negate 0";
        return append("word_chain", {{"steps", std::vector<std::string>{step}}}, {from}, type_);
    }
    /// What is appended: an input, what is computed from it, or such a value in another order.
    ir::ValueId added(std::uint32_t size) {
        const Extents extents = with(extents_, size);
        switch (below(3)) {
            case 0:
                return input("new", extents);
            case 1:
                return computed(input("new", extents));
            default: {
                if (extents.size() < 3) return computed(input("new", extents));
                Extents before = extents;
                std::vector<std::int64_t> axes(extents.size());
                for (std::size_t i = 0; i < axes.size(); ++i) axes[i] = static_cast<std::int64_t>(i);
                std::swap(before[1], before[2]);
                std::swap(axes[1], axes[2]);
                return append("transpose", {{"permutation", axes}}, {input("new", before)}, type_);
            }
        }
    }

    void add_output(ir::ValueId value) { graph_.outputs.push_back(value); }
    void add_pair(std::optional<ir::ValueId> before, ir::ValueId after) {
        ir::Graph::Cache cache{.input = {}, .output = static_cast<std::uint32_t>(graph_.outputs.size())};
        if (before) {
            const auto place = std::ranges::find(graph_.inputs, *before) - graph_.inputs.begin();
            cache.input = static_cast<std::uint32_t>(place);
        }
        graph_.caches.push_back(cache);
        add_output(after);
    }

    void add_cache() {
        constexpr std::array types{DataType::Float32, DataType::Float32, DataType::Bfloat16, DataType::Int32};
        type_ = types.at(below(4));
        extents_ = {1};
        for (std::uint32_t axes = 1 + below(4); axes > 0; --axes) extents_.push_back(1 + below(5));
        if (below(3) == 0) extents_.back() = 1 + below(40);
        // Along the last axis, each row of the result has elements of both.
        const auto last = static_cast<std::uint32_t>(extents_.size()) - 1;
        axis_ = last == 1 || below(4) == 0 ? last : 1 + below(last - 1);
        extents_[axis_] = 1 + below(5);
        const std::uint32_t more = 1 + below(3);
        const Extents longer = with(extents_, extents_[axis_] + more);
        const auto way = [&](const std::string& name) { ++met[name]; };
        const std::uint32_t kind = below(18);
        if (kind == 0) {
            way("nothing before");
            return add_read(add_alone(computed(input("new", longer))));
        }
        if (kind == 1) {
            way("nothing before an input");
            return add_read(add_alone(input("new", longer)));
        }
        const ir::ValueId cache = input("past", extents_);
        ir::ValueId result = 0;
        switch (kind) {
            case 2:
                way("in front");
                result = concat({added(more), cache});
                break;
            case 3:
                way("read by another");
                result = concat({cache, added(more)});
                add_output(computed(cache));
                break;
            case 4:
                way("an output, too");
                result = concat({cache, added(more)});
                add_output(cache);
                break;
            case 5:
                way("twice");
                result = concat({cache, cache});
                break;
            case 6: {
                way("borders");
                std::vector<std::int64_t> after(extents_.size(), 0);
                after[axis_] = more;
                result = append("pad",
                                {{"before", std::vector<std::int64_t>(extents_.size(), 0)}, {"after", after}},
                                {cache}, type_);
                break;
            }
            case 7: {
                way("reshaped");
                Extents wide = extents_;
                wide.insert(wide.begin() + 1, 1);
                ++axis_;
                const ir::ValueId both =
                    concat({reshaped(cache, wide), reshaped(added_of(more), wide_of(more))});
                --axis_;
                result = reshaped(both, longer);
                break;
            }
            case 8:
                way("an output twice");
                result = concat({cache, added(more)});
                add_output(result);
                break;
            case 9:
                way("two caches alike");
                result = concat({cache, added(more)});
                add_pair({}, result);
                break;
            case 10:
                way("not read");
                result = computed(input("other", longer));
                break;
            case 11:
                way("another input");
                result = input("other", longer);
                break;
            case 12:
                way("computed before");
                result = concat({computed(cache), added(more)});
                break;
            case 13:
                way("computed behind");
                result = computed(concat({cache, added(more)}));
                break;
            case 14:
                way("two at once");
                result = concat({cache, added(more), added(1 + below(2))});
                break;
            default:
                way(axis_ == last ? "columns" : "rows");
                result = concat({cache, added(more)});
        }
        add_pair(cache, result);
        add_read(result);
    }

    /// As `added`, for a value that is reshaped: without the axis that is put in front.
    ir::ValueId added_of(std::uint32_t size) {
        Extents extents = extents_;
        extents[axis_ - 1] = size;
        return computed(input("new", extents));
    }
    Extents wide_of(std::uint32_t size) const {
        Extents extents = extents_;
        extents[axis_ - 1] = size;
        extents.insert(extents.begin() + 1, 1);
        return extents;
    }
    ir::ValueId add_alone(ir::ValueId value) {
        add_pair({}, value);
        return value;
    }

    /// Something reads the longer cache, mostly a product, as weights by rows or columns.
    void add_read(ir::ValueId cache) {
        const ir::Shape& shape = graph_.values[cache].shape;
        const std::uint32_t way = below(4);
        if (way == 0) return;
        if (way == 1 || type_ == DataType::Int32 || shape.rank() < 3) return add_output(computed(cache));
        const bool transposed = below(2) == 0;
        Extents rows(shape.extents().begin(), shape.extents().end());
        const std::uint32_t depth = rows[rows.size() - (transposed ? 1 : 2)];
        rows[rows.size() - 2] = 1 + below(3);
        rows[rows.size() - 1] = depth;
        const ir::ValueId queries = input("query", rows);
        ++met[transposed ? "weights by columns" : "weights by rows"];
        add_output(append("matrix_product",
                          {{"transposed_b", std::int64_t{transposed ? 1 : 0}},
                           {"sum_tile", std::int64_t{sum_tile_}},
                           {"precision", std::string("default")}},
                          {queries, cache}, DataType::Float32));
    }

    std::mt19937& random_;
    std::uint32_t sum_tile_;
    ir::Graph graph_;
    DataType type_ = DataType::Float32;
    Extents extents_;
    std::size_t axis_ = 1;
};

/// Each cache lies as the program behind expects it, row by row of its last axis, and none where another is
/// that stays, too.
void check_places(const isa::Program& program) {
    std::set<std::uint64_t> taken;
    for (const isa::ResidentTensor& resident : program.residents) {
        const bool is_input = resident.side == isa::ResidentSide::Input;
        const isa::BorderTensor& tensor = (is_input ? program.inputs : program.outputs).at(resident.number);
        CHECK(resident.columns == tensor.shape.back());
        if (is_input) continue;
        std::size_t parts = 0;
        const std::size_t before = taken.size();
        isa::for_each_part(resident, program.geometry.tensor.lanes,
                           [&](std::uint64_t, std::uint64_t row, std::uint64_t) {
                               taken.insert(row);
                               ++parts;
                           });
        CHECK(taken.size() == before + parts);
    }
}

void check_caches(std::uint32_t first_seed, std::uint32_t count, bool with_any_mapping) {
    std::uint32_t compiled = 0;
    for (std::uint32_t seed = first_seed; seed < first_seed + count; ++seed) {
        std::mt19937 random(seed);
        machine::MachineConfig machine = random_core(random);
        mapping::Options options;
        options.batches.batch = 1 + static_cast<std::uint32_t>(random() % 4);
        draw_cores(random, machine, options.batches);
        options.batches.inferences = options.batches.batch;
        const ir::Graph graph = RandomCaches(random, machine).draw();
        INFO("seed " << seed << ": " << machine::to_json(machine).dump() << "\nbatch "
                     << options.batches.batch << "\n"
                     << ir::to_text(graph));
        REQUIRE(ir::find_fault(graph).value_or("none") == "none");
        isa::Program program;
        try {
            program = with_any_mapping ? random_program(random, graph, machine, options.batches).program
                                       : tensor_core::family.compile(graph, machine, options).program;
        } catch (const ModelError& error) {
            INFO(error.what());
            REQUIRE(std::string(error.what()).find("rows of vector memory") != std::string::npos);
            continue;
        }
        ++compiled;
        check_places(program);
        std::size_t sides = 0;
        for (const ir::Graph::Cache& cache : graph.caches) sides += cache.input ? 2 : 1;
        CHECK(program.residents.size() == sides);
        const WordTensors inputs = random_inputs(random, graph, options.batches.inferences);
        check_bits(program, machine, inputs, expected_outputs(graph, options.batches, inputs), seed % 4 == 0);
    }
    CHECK(compiled * 10 >= count * 9);
}

/// A decoder's step: two heads of three tokens, and one token more.
const std::string appended = R"(graph "step"
inputs %0, %1
outputs %2, %3
cache %0 -> %2
%0 float32 1x2x3x16 "past"
%1 float32 1x2x1x16 "new"
%2 float32 1x2x4x16 "present"
%3 float32 1x2x4x16 "double"
%2 = concat(%0, %1) "present" {axis 2}
%3 = word_chain(%2) "double" {steps ["add 0 0"]}
)";

}  // namespace

TEST_CASE("Graphs with caches give the reference's bits", "[tensor_core][caches]") {
    check_caches(1, tests::random_runs(400), false);
}
TEST_CASE("Graphs with caches give the reference's bits with any mapping", "[tensor_core][caches]") {
    check_caches(100000, tests::random_runs(400), true);
}

TEST_CASE("Random graphs meet each way in which a cache is lengthened", "[tensor_core][caches]") {
    std::map<std::string, int> met;
    for (std::uint32_t seed = 1; seed <= 400; ++seed) {
        std::mt19937 random(seed);
        RandomCaches caches(random, random_core(random));
        static_cast<void>(caches.draw());
        for (const auto& [way, times] : caches.met) met[way] += times;
    }
    CHECK(met.size() == 19);
    for (const auto& [way, times] : met) {
        INFO(way);
        CHECK(times >= 10);
    }
}

TEST_CASE("What is appended is all that a step writes of a cache", "[tensor_core][caches]") {
    const ir::Graph graph = tests::graph_of_text(appended);
    const machine::MachineConfig machine = core_of_16_lanes(4096);
    mapping::Options options;
    options.batches = {.batch = 3, .inferences = 3};
    const isa::Program program = tensor_core::family.compile(graph, machine, options).program;
    REQUIRE(program.residents.size() == 2);
    const isa::ResidentTensor& past = program.residents[0];
    const isa::ResidentTensor& present = program.residents[1];
    CHECK(past.side == isa::ResidentSide::Input);
    CHECK(present.side == isa::ResidentSide::Output);
    CHECK(past.first_row == present.first_row);
    CHECK(past.inferences == 3);
    // Token t of head h is row 4h + t of an inference.
    for (std::uint64_t inference = 0; inference < 3; ++inference) {
        for (std::uint64_t row = 0; row < 6; ++row)
            CHECK(past.memory_row(inference, row) == present.memory_row(inference, row / 3 * 4 + row % 3));
    }
    std::uint64_t written = 0;
    std::uint64_t fed = 0;
    for (const isa::Instruction& instruction : program.instructions) {
        if (const auto* const out = std::get_if<isa::DmaOut>(&instruction))
            written += std::uint64_t{out->rows} * out->blocks;
        if (const auto* const in = std::get_if<isa::Infeed>(&instruction)) fed += in->rows;
        if (const auto* const out = std::get_if<isa::Outfeed>(&instruction)) fed += out->rows;
    }
    // Two rows of each inference, and eight of the other output; these and the new ones go over the link.
    CHECK(written == 3 * (2 + 8));
    CHECK(fed == 3 * (2 + 8));
    CHECK(program.inputs.size() == 2);
    CHECK(program.buffers.size() == 4);
}

TEST_CASE("A cache lies as the program before left it, whatever reads it", "[tensor_core][caches]") {
    // Without the cache, the input would lie as the rows of 64 that the chain reads.
    const auto program_of = [](const std::string& cache) {
        const ir::Graph graph = tests::graph_of_text(
            "graph \"g\"\ninputs %0, %1\noutputs %2, %4\n" + cache +
            "%0 float32 1x32x2 \"past\"\n%1 float32 1x33x2 \"x\"\n%2 float32 1x33x2 \"present\"\n"
            "%3 float32 1x64 \"row\"\n%4 float32 1x64 \"y\"\n"
            "%2 = word_chain(%1) \"present\" {steps [\"negate 0\"]}\n"
            "%3 = reshape(%0) \"row\" {shape [1, 64]}\n%4 = word_chain(%3) \"y\" {steps [\"negate 0\"]}\n");
        return tensor_core::family.compile(graph, core_of_16_lanes(4096), {}).program;
    };
    const auto columns_fed = [](const isa::Program& program) {
        std::vector<std::uint32_t> columns;
        for (const isa::Instruction& instruction : program.instructions) {
            if (const auto* const in = std::get_if<isa::Infeed>(&instruction)) columns.push_back(in->columns);
        }
        std::ranges::sort(columns);
        return columns;
    };
    CHECK(columns_fed(program_of("")) == std::vector<std::uint32_t>{2, 64});
    const isa::Program program = program_of("cache %0 -> %2\n");
    CHECK(columns_fed(program) == std::vector<std::uint32_t>{2});
    REQUIRE(program.residents.size() == 2);
    CHECK(program.residents[0].columns == 2);
}

TEST_CASE("A program with caches is of one batch", "[tensor_core][caches]") {
    const ir::Graph graph = tests::graph_of_text(appended);
    mapping::Options options;
    options.batches = {.batch = 2, .inferences = 4};
    CHECK_THROWS_WITH(tensor_core::family.compile(graph, core_of_16_lanes(4096), options),
                      "step: batch is 2 for 4 inferences; it has caches, which are those of one batch: both "
                      "must be the same");
}

TEST_CASE("A cache keeps its number format", "[tensor_core][caches]") {
    const ir::Graph graph = tests::graph_of_text(
        "graph \"g\"\ninputs %0, %1\noutputs %2\ncache %0 -> %2\n%0 float32 1x3 \"past\"\n"
        "%1 float32 1x4 \"x\"\n%2 int32 1x4 \"present\"\n"
        "%2 = word_chain(%1) \"present\" {steps [\"float_to_int 0\"]}\n");
    CHECK_THROWS_WITH(tensor_core::family.compile(graph, core_of_16_lanes(4096), {}),
                      "g: a cache has one number format; input past is float32, and output present int32");
}

TEST_CASE("A product reads weights with their last two axes exchanged as they lie", "[tensor_core][caches]") {
    const auto graph_of = [](const std::string& outputs, const std::string& permutation,
                             const std::string& product) {
        return "graph \"g\"\ninputs %0, %1\noutputs " + outputs +
               "\n%0 float32 1x4x4x4 \"q\"\n%1 float32 1x4x4x4 \"k\"\n%2 float32 1x4x4x4 \"t\"\n"
               "%3 float32 1x4x4x4 \"p\"\n%2 = transpose(%1) \"t\" {permutation " +
               permutation + "}\n%3 = matrix_product(" + product + "sum_tile 16, precision \"default\"}\n";
    };
    const auto changed = [](const std::string& text) {
        return to_text(tensor_core::with_transposed_weights(tests::graph_of_text(text)));
    };
    const std::string as_it_lies =
        "graph \"g\"\ninputs %0, %1\noutputs %2\n%0 float32 1x4x4x4 \"q\"\n%1 float32 1x4x4x4 \"k\"\n"
        "%2 float32 1x4x4x4 \"p\"\n%2 = matrix_product(%0, %1) \"p\" {";
    const std::string end = "sum_tile 16, precision \"default\"}\n";
    CHECK(changed(graph_of("%3", "[0, 1, 3, 2]", "%0, %2) \"p\" {")) ==
          as_it_lies + "transposed_b 1, " + end);
    CHECK(changed(graph_of("%3", "[0, 1, 3, 2]", "%0, %2) \"p\" {transposed_b 1, ")) == as_it_lies + end);
    // An output stays, and the product reads what is transposed all the same.
    CHECK(changed(graph_of("%2, %3", "[0, 1, 3, 2]", "%0, %2) \"p\" {")) ==
          graph_of("%2, %3", "[0, 1, 3, 2]", "%0, %1) \"p\" {transposed_b 1, "));
    // Other transpositions stay, and so do those of rows.
    for (const std::string& text : {graph_of("%3", "[0, 2, 1, 3]", "%0, %2) \"p\" {"),
                                    graph_of("%3", "[0, 2, 3, 1]", "%0, %2) \"p\" {"),
                                    graph_of("%3", "[0, 1, 3, 2]", "%2, %0) \"p\" {")})
        CHECK(changed(text) == text);
}
