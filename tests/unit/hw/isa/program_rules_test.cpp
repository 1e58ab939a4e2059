#include "hw/isa/program_rules.h"

#include <catch2/catch.hpp>
#include <cstddef>
#include <cstdint>
#include <limits>

#include "base/word_operation.h"
#include "hw/isa/program_error.h"

using namespace systole::isa;
using Catch::Matchers::Message;
using systole::DataType;

namespace {

/// A program that has each part once.
Program sound() {
    Program program;
    program.geometry = {.rows = 4, .columns = 3};
    program.tiles = {{.rows = 2,
                      .columns = 3,
                      .type = DataType::Int16,
                      .useful_macs = 6,
                      .values = std::vector<std::uint8_t>(12)}};
    program.buffers = {
        {.name = "in", .kind = BufferKind::Input, .address = 8, .bytes = 8, .contents = {}},
        {.name = "c", .kind = BufferKind::Constant, .address = 0, .bytes = 2, .contents = {1, 2}}};
    program.initial[MemoryId::UnifiedBuffer] = {{.first_row = 8, .values = {1, 2, 3, 4, 5}},
                                                {.first_row = 2, .values = {1}}};
    program.initial[MemoryId::Accumulators] = {{.first_row = 9, .values = std::vector<std::uint8_t>(24)}};
    program.buffers.push_back(
        {.name = "e", .kind = BufferKind::Exchange, .address = 32, .bytes = 10, .contents = {}});
    program.buffers.push_back(
        {.name = "out", .kind = BufferKind::Output, .address = 64, .bytes = 7, .contents = {}});
    program.host_segments = {{.name = "s",
                              .layers = {"softmax"},
                              .reads = {{.buffer = 0, .bytes = 2}, {.buffer = 2, .bytes = 5}},
                              .writes = {{.buffer = 3, .bytes = 3}},
                              .graph = "graph\n"}};
    program.layers = {{.name = "dense", .kind = "dense", .macs = 1}};
    program.inputs = {{.name = "x", .shape = {2, 4}}};
    program.instructions = {DebugTag{.tag = 1}, ReadWeights{.first_tile = 0, .tiles = 1},
                            HostWork{.segment = 0, .first_inference = 1, .images = 1}};
    return program;
}

template <class Change>
void check_broken(Change change, const std::string& message) {
    Program program = sound();
    change(program);
    CHECK_THROWS_MATCHES(validate(program), ProgramError, Message(message));
}

}  // namespace

TEST_CASE("A sound program breaks no rule", "[isa][rules]") {
    CHECK_NOTHROW(validate(sound()));
}

TEST_CASE("Each rule of a program is held", "[isa][rules]") {
    check_broken([](Program& p) { p.geometry.rows = 0; }, "array: rows is 0; it must be from 1 to 4096");
    check_broken([](Program& p) { p.geometry.columns = 4097; },
                 "array: columns is 4097; it must be from 1 to 4096");
    check_broken([](Program& p) { p.geometry.rows = 1; },
                 "tile 0: rows is 2; it must be from 1 to the array's 1");
    check_broken([](Program& p) { p.tiles[0].columns = 4; },
                 "tile 0: columns is 4; it must be from 1 to the array's 3");
    check_broken([](Program& p) { p.tiles[0].type = DataType::Bfloat16; },
                 "tile 0: the weights are bfloat16; they must be int8 or int16");
    check_broken([](Program& p) { p.tiles[0].useful_macs = 7; },
                 "tile 0: useful is 7; it must be at most rows * columns, which is 6");
    check_broken(
        [](Program& p) {
            p.tiles[0].block_macs = {2, 3};
        },
        "tile 0: block sums to 5; it must sum to useful, which is 6");
    check_broken(
        [](Program& p) {
            p.tiles[0].block_macs = {2, 3, 1, 0};
        },
        "tile 0: block has 4 pixels; they may be at most the array's 3 columns");
    check_broken([](Program& p) { p.tiles[0].values.pop_back(); },
                 "tile 0: the values are 11 bytes; they must be rows * columns * bytes, which is 12");
    check_broken([](Program& p) { p.initial[MemoryId::UnifiedBuffer][1].values.clear(); },
                 "initial rows of the unified buffer from 2 on: there are no values");
    check_broken([](Program& p) { p.initial[MemoryId::UnifiedBuffer][1].first_row = 9; },
                 "initial rows of the unified buffer from 9 on: they overlap those from 8 on");
    check_broken(
        [](Program& p) { p.initial[MemoryId::UnifiedBuffer][0].first_row = 0xffffff; },
        "initial rows of the unified buffer from 16777215 on: 2 rows from 16777215 on; addresses end at "
        "row 16777215");
    check_broken([](Program& p) { p.initial[MemoryId::Accumulators][0].values.pop_back(); },
                 "initial rows of the accumulators from 9 on: the values are 23 bytes; a row takes 12");
    check_broken(
        [](Program& p) { p.initial[MemoryId::Accumulators][0].first_row = 0xffff; },
        "initial rows of the accumulators from 65535 on: 2 rows from 65535 on; addresses end at row 65535");
    check_broken(
        [](Program& p) {
            p.initial[MemoryId::Accumulators].push_back(
                {.first_row = 10, .values = p.initial[MemoryId::Accumulators][0].values});
        },
        "initial rows of the accumulators from 10 on: they overlap those from 9 on");
    check_broken([](Program& p) { p.buffers[0].name.clear(); }, "host buffer \"\": the name is empty");
    check_broken([](Program& p) { p.buffers[0].name = p.buffers[1].name; },
                 "host buffer \"c\": the name is taken");
    check_broken([](Program& p) { p.buffers[0].address = 1; }, "host buffer \"in\": it overlaps \"c\"");
    check_broken([](Program& p) { p.buffers[0].bytes = 0; },
                 "host buffer \"in\": bytes is 0; it must be at least 1");
    check_broken([](Program& p) { p.buffers[0].kind = static_cast<BufferKind>(4); },
                 "host buffer \"in\": kind is 4; it must be below 4");
    check_broken([](Program& p) { p.buffers[0].contents = {1}; },
                 "host buffer \"in\": the contents are 1 bytes; they must be 0");
    check_broken([](Program& p) { p.buffers[1].contents = {1}; },
                 "host buffer \"c\": the contents are 1 bytes; they must be 2");
    check_broken([](Program& p) { p.buffers[0].address = 0xfffffffff9; },
                 "host buffer \"in\": 8 bytes from 0xfffffffff9 on end above address 0xffffffffff");
    check_broken([](Program& p) { p.buffers[0].address = UINT64_MAX; },
                 "host buffer \"in\": 8 bytes from 0xffffffffffffffff on end above address 0xffffffffff");
    check_broken(
        [](Program& p) {
            p.inputs[0].shape = {2, 0};
        },
        "tensor \"x\": a size of the shape is 0; each must be at least 1");
    check_broken([](Program& p) { p.inputs[0].shape = std::vector<std::uint32_t>(5, UINT32_MAX); },
                 "tensor \"x\": the shape has more elements than host memory has bytes");
    check_broken([](Program& p) { p.inputs[0].scale = 0; },
                 "tensor \"x\": scale is 0; it must be a finite number above 0");
    check_broken([](Program& p) { p.inputs[0].scale = std::numeric_limits<double>::infinity(); },
                 "tensor \"x\": scale is inf; it must be a finite number above 0");
    check_broken([](Program& p) { p.tiles.clear(); },
                 "instruction 1: read_weights tile=0: the program has 0 tiles");
    check_broken([](Program& p) { p.instructions[0] = DebugTag{.tag = 2}; },
                 "instruction 0: tag 2: the program has 1 layers");
    check_broken([](Program& p) { p.instructions[1] = Convolve{.lines = 0}; },
                 "instruction 1: convolve ub=0 acc=0 lines=0: lines is 0; it must be at least 1");
}

namespace {

/// On 4 x 4 tiles of 32 lanes.
void check_broken_for_tiles(const std::vector<Instruction>& instructions, const TileGrid& grid,
                            const std::string& message) {
    Program program;
    program.geometry.tiles = grid;
    program.instructions = instructions;
    CHECK_THROWS_MATCHES(validate(program), ProgramError, Message(message));
}

constexpr TileGrid small_grid = {.lines = 4, .columns = 4, .lanes = 32, .units = 8};

}  // namespace

TEST_CASE("Each rule of a program for tiles is held", "[isa][rules]") {
    Program program;
    program.geometry.tiles = small_grid;
    program.instructions = {ReadProgram{.bytes = 1}, Exchange{},
                            Multicast{.rows = 1, .units = 2, .groups = 1, .repeats = 1},
                            SyncSignal{.unit = QueueId::Ring}, SyncWait{.unit = QueueId::HostWrite}};
    CHECK_NOTHROW(validate(program));
    const auto check_grid = [](TileGrid grid, const std::string& message) {
        check_broken_for_tiles({}, grid, "tiles: " + message);
    };
    check_grid({.lines = 17, .columns = 4, .lanes = 32, .units = 8},
               "lines of tiles is 17; it must be from 1 to 16");
    check_grid({.lines = 4, .columns = 0, .lanes = 32, .units = 8},
               "columns of tiles is 0; it must be from 1 to 16");
    for (const std::uint32_t lanes : {0U, 24U, 272U}) {
        check_grid({.lines = 4, .columns = 4, .lanes = lanes, .units = 8},
                   "lanes is " + std::to_string(lanes) + "; it must be a multiple of 16 up to 256");
    }
    for (const std::uint32_t units : {0U, 1048577U}) {
        check_grid({.lines = 4, .columns = 4, .lanes = 32, .units = units},
                   "units is " + std::to_string(units) + "; it must be from 1 to 1048576");
    }
    program.geometry.rows = 4;
    CHECK_THROWS_MATCHES(
        validate(program), ProgramError,
        Message("tiles: the array is 4 x 256; in a program for tiles, it must be 256 x 256"));
    program.geometry.rows = 256;
    program.tiles = {{.rows = 1, .columns = 1, .type = DataType::Int8, .useful_macs = 1, .values = {7}}};
    const std::string no_array =
        "tiles: the program has weight tiles or initial rows, which are for a machine with a unified buffer";
    CHECK_THROWS_MATCHES(validate(program), ProgramError, Message(no_array));
    program.tiles.clear();
    program.initial[MemoryId::UnifiedBuffer] = {{.first_row = 0, .values = {1}}};
    CHECK_THROWS_MATCHES(validate(program), ProgramError, Message(no_array));

    const auto check_instruction = [](const Instruction& instruction, const std::string& message) {
        check_broken_for_tiles({Halt{}, instruction}, small_grid, "instruction 1: " + message);
    };
    check_instruction(Multicast{.rows = 1, .units = 3, .groups = 1, .repeats = 1},
                      "multicast unit=0 rows=1 units=3: units is 3; a row of weights has at most 2");
    check_instruction(StreamParameters{.rows = 1, .units = 3, .groups = 1, .repeats = 1},
                      "stream_parameters 0x0 rows=1 units=3: units is 3; a row of weights has at most 2");
}

TEST_CASE("A program has instructions and units of one kind of machine", "[isa][rules]") {
    std::size_t of_array = 0;
    std::size_t of_tiles = 0;
    std::size_t of_tensor_core = 0;
    const Geometry small_core{.tensor = {.lanes = 8}};
    for_each_kind([&]<class Each>(const Each& each) {
        const auto rule_for = [&](const Geometry& geometry) {
            Program program;
            program.geometry = geometry;
            return broken_rule(Instruction(each), program);
        };
        CAPTURE(each.mnemonic);
        if constexpr (is_for_tiles<Each>) {
            CHECK(rule_for({}) ==
                  "it is for machines with tiles; the program is for one with a unified buffer");
            CHECK(rule_for(small_core) ==
                  "it is for machines with tiles; the program is for one with a tensor core");
            ++of_tiles;
        }
        if constexpr (is_for_tensor_core<Each>) {
            CHECK(rule_for({}) ==
                  "it is for machines with a tensor core; the program is for one with a unified buffer");
            CHECK(rule_for({.tiles = small_grid}) ==
                  "it is for machines with a tensor core; the program is for one with tiles");
            ++of_tensor_core;
        }
        if constexpr (is_for_array<Each>) {
            CHECK(rule_for({.tiles = small_grid}) ==
                  "it is for machines with a unified buffer; the program is for one with tiles");
            CHECK(rule_for(small_core) ==
                  "it is for machines with a unified buffer; the program is for one with a tensor core");
            ++of_array;
        }
    });
    CHECK(of_array == 8);
    CHECK(of_tiles == 12);
    CHECK(of_tensor_core == 13);
    const auto rule_of = [](QueueId unit, const Geometry& geometry) {
        Program program;
        program.geometry = geometry;
        const auto rule = broken_rule(SyncWait{.unit = unit}, program);
        CHECK(broken_rule(SyncSignal{.unit = unit}, program) == rule);
        return rule;
    };
    const Geometry with_tiles{.tiles = small_grid};
    const auto missing = [](QueueId unit, const std::string& kind) {
        return "unit is " + std::string(name(unit)) + ", which a machine with " + kind + " does not have";
    };
    for (const QueueId unit : {QueueId::HostRead, QueueId::HostWrite, QueueId::Host}) {
        for (const Geometry& geometry : {Geometry(), with_tiles, small_core})
            CHECK_FALSE(rule_of(unit, geometry));
    }
    for (const QueueId unit : {QueueId::Weights, QueueId::Matrix}) {
        for (const Geometry& geometry : {Geometry(), small_core}) CHECK_FALSE(rule_of(unit, geometry));
        CHECK(rule_of(unit, with_tiles) == missing(unit, "tiles"));
    }
    CHECK_FALSE(rule_of(QueueId::Activation, {}));
    CHECK(rule_of(QueueId::Activation, with_tiles) == missing(QueueId::Activation, "tiles"));
    CHECK(rule_of(QueueId::Activation, small_core) == missing(QueueId::Activation, "a tensor core"));
    CHECK_FALSE(rule_of(QueueId::WeightWrite, {}));
    CHECK(rule_of(QueueId::WeightWrite, with_tiles) == missing(QueueId::WeightWrite, "tiles"));
    CHECK(rule_of(QueueId::WeightWrite, small_core) == missing(QueueId::WeightWrite, "a tensor core"));
    for (const QueueId unit : {QueueId::Ring, QueueId::Mesh, QueueId::Tiles}) {
        CHECK_FALSE(rule_of(unit, with_tiles));
        CHECK(rule_of(unit, {}) == missing(unit, "a unified buffer"));
        CHECK(rule_of(unit, small_core) == missing(unit, "a tensor core"));
    }
    for (const QueueId unit : {QueueId::DmaIn, QueueId::DmaOut, QueueId::Vector, QueueId::CrossLane}) {
        CHECK_FALSE(rule_of(unit, small_core));
        CHECK(rule_of(unit, {}) == missing(unit, "a unified buffer"));
        CHECK(rule_of(unit, with_tiles) == missing(unit, "tiles"));
    }
}

TEST_CASE("Each rule of a tensor core's program is held", "[isa][rules]") {
    const auto rule_with = [](const auto& change) {
        Program program;
        program.geometry.tensor = {.lanes = 8};
        program.chains = {{.name = "c",
                           .sources = {{.spread = Spread::Rows}, {.spread = Spread::Row}},
                           .steps = {{.operation = systole::WordOperation::Add, .operands = {0, 1}}},
                           .results = {{.value = 2}}}};
        program.instructions = {
            RunChain{.rows = 1, .columns = 1, .results = {9, 0}, .sources = {9, 1, 0, 0}}};
        change(program);
        try {
            validate(program);
        } catch (const ProgramError& error) {
            return std::string(error.what());
        }
        return std::string();
    };
    CHECK(rule_with([](Program&) {}).empty());
    CHECK(rule_with([](Program& p) { p.geometry.tensor.lanes = 1025; }) ==
          "array: lanes is 1025; it must be from 1 to 1024");
    CHECK(rule_with([](Program& p) { p.geometry.tiles = small_grid; }) ==
          "tiles: it has tiles and a tensor core");
    CHECK(rule_with([](Program& p) { p.geometry.tensor.lanes = 0; }) ==
          "chains: the program has some, which are for a machine with a tensor core");
    CHECK(
        rule_with([](Program& p) { p.tiles = {{.rows = 1, .columns = 1, .values = {0}}}; }) ==
        "tiles: the program has weight tiles or initial rows, which are for a machine with a unified buffer");
    const InitialRows last_row{.first_row = 0xffffffff, .values = std::vector<std::uint8_t>(32)};
    CHECK(rule_with([&](Program& p) { p.initial[MemoryId::Hbm] = {last_row}; }).empty());
    CHECK(
        rule_with([&](Program& p) {
            p.initial[MemoryId::Hbm] = {last_row};
            p.initial[MemoryId::Hbm][0].values.push_back(1);
        }) ==
        "initial rows of the high-bandwidth memory from 4294967295 on: 2 rows from 4294967295 on; addresses "
        "end at row 4294967295");
    CHECK(rule_with([&](Program& p) {
              p.initial[MemoryId::Hbm] = {last_row, last_row};
          }) ==
          "initial rows of the high-bandwidth memory from 4294967295 on: they overlap those from 4294967295 "
          "on");
    CHECK(rule_with([&](Program& p) {
              p.chains.clear();
              p.instructions.clear();
              p.geometry.tensor.lanes = 0;
              p.initial[MemoryId::Hbm] = {last_row};
          }) == "initial rows: the program has some of high-bandwidth memory, which a tensor core has");
    CHECK(rule_with([](Program& p) { p.chains.push_back(p.chains[0]); }) == "chain \"c\": the name is taken");
    const auto of_chain = [&](const auto& change) {
        return rule_with([&](Program& p) { change(p.chains[0]); });
    };
    CHECK(of_chain([](Chain& c) { c.name = ""; }) == "chain \"\": its name is empty");
    CHECK(of_chain([](Chain& c) { c.sources.resize(5); }) == "chain \"c\": it has 5 sources; the most are 4");
    CHECK(of_chain([](Chain& c) { c.results.clear(); }) ==
          "chain \"c\": it has 0 results; it must have 1 to 2");
    CHECK(of_chain([](Chain& c) { c.results.resize(3); }) ==
          "chain \"c\": it has 3 results; it must have 1 to 2");
    CHECK(of_chain([](Chain& c) { c.steps.resize(63); }) == "chain \"c\": it has 65 values; the most are 64");
    // So many values are needed at a time, of fewer than 64: numbers that are all taken together at the end.
    const auto of_wide_chain = [&](std::size_t numbers) {
        return of_chain([numbers](Chain& c) {
            c.steps.assign(numbers, ChainStep{.operation = systole::WordOperation::Negate, .operands = {0}});
            const auto place = [&](std::size_t value) { return static_cast<std::uint8_t>(value); };
            for (std::size_t taken = 0; taken + 2 < numbers; taken += 2) {
                const std::size_t before = taken == 0 ? c.sources.size() : c.values() - 1;
                const std::size_t next = c.sources.size() + taken + 1;
                c.steps.push_back({.operation = systole::WordOperation::Select,
                                   .operands = {place(before), place(next), place(next + 1)}});
            }
            c.results = {{.value = place(c.values() - 1)}};
        });
    };
    CHECK(of_wide_chain(31).empty());
    CHECK(of_wide_chain(33) == "chain \"c\": it needs 33 values at a time; the vector unit has 32 registers");
    CHECK(of_chain([](Chain& c) { c.sources[1].packed = true; }) ==
          "chain \"c\": only a source of rows may be packed");
    CHECK(of_chain([](Chain& c) { c.steps[0].operands = {0}; }) ==
          "chain \"c\": add has 1 operands; it must have 2");
    CHECK(of_chain([](Chain& c) {
              c.steps[0].operands = {0, 2};
          }) == "chain \"c\": add takes value 2; there are 2 before it");
    CHECK(of_chain([](Chain& c) { c.steps[0].constant = 7; }) == "chain \"c\": add has a constant");
    CHECK(of_chain([](Chain& c) { c.results[0].value = 3; }) ==
          "chain \"c\": a result is value 3; there are 3");
    const auto of_run = [&](const auto& change) {
        const std::string rule =
            rule_with([&](Program& p) { change(std::get<RunChain>(p.instructions[0])); });
        return rule.substr(rule.rfind(": ") + 2);
    };
    CHECK(of_run([](RunChain& r) { r.chain = 1; }) == "the program has 1 chains");
    CHECK(of_run([](RunChain& r) { r.sources[2] = 5; }) == "chain c has 2 sources");
    CHECK(of_run([](RunChain& r) { r.results[1] = 5; }) == "chain c has one result");
}

TEST_CASE("Each rule of a tensor that stays in memory is held", "[isa][rules]") {
    Program program;
    program.geometry = {.rows = 8, .columns = 8, .tensor = {.lanes = 8, .cores = 2}};
    program.batch = 4;
    program.inferences = 4;
    program.inputs = {{.name = "x", .shape = {3}}, {.name = "k", .shape = {2, 3, 10}}};
    program.outputs = {{.name = "new k", .shape = {2, 4, 10}}, {.name = "next x", .shape = {3}}};
    program.buffers = {
        {.name = "x", .kind = BufferKind::Input, .address = 0, .bytes = 48},
        {.name = "new k", .kind = BufferKind::Output, .address = 64, .bytes = 1280},
        {.name = "k", .kind = BufferKind::Input, .address = 2048, .bytes = 720, .padding = 240},
        {.name = "next x", .kind = BufferKind::Output, .address = 4096, .bytes = 48}};
    program.residents = {{.side = ResidentSide::Input,
                          .number = 1,
                          .inferences = 2,
                          .first_row = 5,
                          .inference_rows = 8,
                          .panel_rows = 16,
                          .columns = 10,
                          .axes = {{.extent = 2, .apart = 4}, {.extent = 3, .apart = 1}}},
                         {.side = ResidentSide::Output,
                          .number = 0,
                          .inferences = 2,
                          .first_row = 5,
                          .inference_rows = 8,
                          .panel_rows = 16,
                          .columns = 10,
                          .axes = {{.extent = 8, .apart = 1}}}};
    const auto rule_with = [&](const auto& change) {
        Program wrong = program;
        change(wrong, wrong.residents[0]);
        try {
            validate(wrong);
        } catch (const ProgramError& error) {
            return std::string(error.what());
        }
        return std::string();
    };
    const std::string of_input = "input 1, which stays in memory: ";
    CHECK(rule_with([](Program&, ResidentTensor&) {}).empty());
    CHECK(rule_with([](Program& p, ResidentTensor&) {
              p.geometry.tensor = {};
              p.buffers[2].padding = 0;
          }) == of_input + "only programs for a tensor core keep tensors in memory");
    CHECK(rule_with([](Program&, ResidentTensor& r) { r.number = 2; }) ==
          "input 2, which stays in memory: the program has 2 inputs");
    CHECK(rule_with([](Program& p, ResidentTensor&) { p.residents[1].number = 2; }) ==
          "output 2, which stays in memory: the program has 2 outputs");
    CHECK(rule_with([](Program&, ResidentTensor& r) { r.inferences = 0; }) ==
          of_input + "inferences is 0; it must be at least 1");
    CHECK(rule_with([](Program&, ResidentTensor& r) { r.axes[0].extent = 0; }) ==
          of_input + "an axis has 0 rows; it must have at least 1");
    CHECK(rule_with([](Program&, ResidentTensor& r) { r.columns = 0; }) ==
          of_input + "its axes and columns have 0 elements; the tensor has 60");
    CHECK(rule_with([](Program&, ResidentTensor& r) { r.axes.pop_back(); }) ==
          of_input + "its axes and columns have 20 elements; the tensor has 60");
    // 2^33 * (2^31 + 1) is 2^33 in 64 bits.
    CHECK(rule_with([](Program& p, ResidentTensor& r) {
              p.inputs[1].shape = {1U << 31, 4};
              r.columns = 1U << 31;
              r.axes = {{.extent = 4}, {.extent = (1U << 31) + 1}};
          }) == of_input +
                    "its axes and columns have 18446744073709551615 elements; the tensor has "
                    "8589934592");
    // 2^31 of 2^31 words have 2^64 bytes.
    CHECK(rule_with([](Program& p, ResidentTensor& r) {
              p.inputs[1].shape = {1U << 31};
              r = {.number = 1, .inferences = 1U << 31, .columns = 1U << 31};
          }) == of_input + "2147483648 inferences of it have more bytes than host memory");
    CHECK(rule_with([](Program&, ResidentTensor& r) { r.first_row = UINT32_MAX - 8 - 16 - 6; }).empty());
    CHECK(rule_with([](Program&, ResidentTensor& r) { r.first_row = UINT32_MAX - 8 - 16 - 5; }) ==
          of_input + "it has rows above 2^32 - 1");
    CHECK(rule_with([](Program& p, ResidentTensor&) { p.residents.push_back(p.residents[0]); }) ==
          of_input + "it stays in memory twice");
    CHECK(rule_with([](Program& p, ResidentTensor& r) {
              p.state = {{.input = 0, .output = 1}};
              r = {.number = 0, .columns = 3};
          }) == "input 0, which stays in memory: it is in a state");
    CHECK(rule_with([](Program& p, ResidentTensor&) {
              p.state = {{.input = 0, .output = 1}};
              p.residents[1] = {.side = ResidentSide::Output, .number = 1, .columns = 3};
          }) == "output 1, which stays in memory: it is in a state");
    CHECK(rule_with([](Program& p, ResidentTensor&) { p.buffers[2].padding = 239; }) ==
          of_input + "2 cores of 480 bytes each; buffer \"k\" has 959");
    CHECK(rule_with([](Program& p, ResidentTensor&) { p.buffers[2].kind = BufferKind::Exchange; }) ==
          of_input + "there is no buffer for it");
    // A program for any number of cores meets them later.
    program.geometry.tensor.cores = 0;
    CHECK_NOTHROW(check_cores(program, 2));
    CHECK_THROWS_MATCHES(check_cores(program, 3), ProgramError,
                         Message(of_input + "3 cores of 480 bytes each; buffer \"k\" has 960"));
    CHECK(host_address(program.residents[0], program, 1) == 2048 + 480);
    CHECK(host_address(program.residents[1], program, 0) == 64);
}

TEST_CASE("Each rule of a host segment is held", "[isa][rules]") {
    check_broken([](Program& p) { p.host_segments[0].writes.clear(); },
                 "host segment \"s\": it writes no tensor");
    check_broken(
        [](Program& p) {
            p.host_segments[0].macs = {1, 2, 3};
        },
        "host segment \"s\": it has MACs of 3 layers; it computes 1");
    check_broken(
        [](Program& p) {
            p.host_segments[0].layers = {"a"};
            p.host_segments[0].macs = {0};
        },
        "host segment \"s\": its layers' MACs are all 0; then none may be given");
    check_broken([](Program& p) { p.host_segments[0].graph = "graph"; },
                 "host segment \"s\": the text of its graph must end in a line end");
    check_broken([](Program& p) { p.host_segments[0].reads[0].buffer = 4; },
                 "host segment \"s\": it reads buffer 4; the program has 4");
    check_broken(
        [](Program& p) { p.host_segments[0].reads[0].buffer = 1; },
        "host segment \"s\": it reads \"c\", a buffer of kind constant; the kind must be input, output or "
        "exchange");
    check_broken([](Program& p) { p.host_segments[0].reads[0] = {.buffer = 3, .bytes = 3}; },
                 "host segment \"s\": it writes \"out\" and uses it a second time");
    check_broken([](Program& p) { p.host_segments[0].writes[0].buffer = 0; },
                 "host segment \"s\": it writes \"in\", a buffer of kind input; the kind must be output or "
                 "exchange");
    check_broken([](Program& p) { p.host_segments[0].writes[0].bytes = 0; },
                 "host segment \"s\": an inference takes 0 bytes of \"out\"; it must be from 1 to the "
                 "buffer's 7");
    check_broken([](Program& p) { p.host_segments[0].reads[0].bytes = 9; },
                 "host segment \"s\": an inference takes 9 bytes of \"in\"; it must be from 1 to the "
                 "buffer's 8");
    check_broken([](Program& p) { p.host_segments[0].writes[0] = {.buffer = 2, .bytes = 5}; },
                 "host segment \"s\": it writes \"e\" and uses it a second time");
    check_broken([](Program& p) { p.instructions[2] = HostWork{.segment = 1}; },
                 "instruction 2: host_work segment=1 first=0 images=1: the program has 1 host segments");
    check_broken(
        [](Program& p) { p.instructions[2] = HostWork{.first_inference = 1, .images = 2}; },
        "instruction 2: host_work segment=0 first=1 images=2: buffer \"e\" has room for 2 inferences");
    check_broken([](Program& p) { p.instructions[2] = HostWork{.first_inference = UINT32_MAX}; },
                 "instruction 2: host_work segment=0 first=4294967295 images=1: buffer \"in\" has room for 4 "
                 "inferences");
}

TEST_CASE("Programs at the bounds of the rules are valid", "[isa][rules]") {
    Program program = sound();
    program.geometry = {.rows = 4096, .columns = 4096};
    program.initial[MemoryId::UnifiedBuffer] = {
        {.first_row = 0xffffff, .values = std::vector<std::uint8_t>(4096)}};
    program.initial[MemoryId::Accumulators] = {
        {.first_row = 0xffff, .values = std::vector<std::uint8_t>(4 * 4096)}};
    program.buffers[0].address = 0xfffffffff8;
    program.inputs[0].shape = {1U << 20, 1U << 20};
    CHECK_NOTHROW(validate(program));
    program.layers.clear();  // tags of hand-written programs stand for nothing
    program.instructions[0] = DebugTag{.tag = 65535};
    CHECK_NOTHROW(validate(program));
}
