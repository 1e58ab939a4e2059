// The program file of docs/isa.md, "Program files".
#include "hw/isa/program_file.h"

#include <zlib.h>

#include <algorithm>
#include <array>
#include <catch2/catch.hpp>
#include <cstdio>
#include <sstream>

#include "base/conversion.h"
#include "base/whole_file.h"
#include "hw/isa/program_error.h"
#include "hw/isa/program_rules.h"
#include "tests/unit/hw/isa/random_program.h"

using namespace systole::isa;
using Catch::Matchers::Contains;
using Catch::Matchers::Message;
using systole::DataType;
using systole::isa::tests::RandomPrograms;

namespace {

using Bytes = std::vector<std::uint8_t>;

constexpr std::size_t header_bytes = 24;

Bytes file_of(const Program& program) {
    std::ostringstream stream;
    write_program(program, stream);
    const std::string text = stream.str();
    return {text.begin(), text.end()};
}

/// A program that has every part.
Program small_program() {
    for (std::uint64_t seed = 100;; ++seed) {
        Program program = RandomPrograms(seed).program();
        const bool has_constant =
            std::any_of(program.buffers.begin(), program.buffers.end(),
                        [](const HostBuffer& buffer) { return buffer.kind == BufferKind::Constant; });
        if (has_constant && !program.tiles.empty() && !program.layers.empty() && !program.inputs.empty() &&
            !program.host_operations.empty() && !program.initial[MemoryId::UnifiedBuffer].empty() &&
            !program.initial[MemoryId::Accumulators].empty() && !program.host_segments.empty() &&
            program.instructions.size() > 10) {
            return program;
        }
    }
}

/// The same for a tensor core.
Program small_core_program() {
    for (std::uint64_t seed = 100;; ++seed) {
        Program program = RandomPrograms(seed).program();
        if (!program.residents.empty() && !program.state.empty() && program.arrays &&
            !program.chains.empty() && !program.initial[MemoryId::Hbm].empty() &&
            program.instructions.size() > 10) {
            return program;
        }
    }
}

/// Sets length and checksum of the header to those of the content.
Bytes sealed(Bytes file) {
    const std::uint64_t length = file.size() - header_bytes;
    const std::uint64_t sum = crc32_z(0, file.data() + header_bytes, length);
    for (std::size_t i = 0; i < 4; ++i) file[12 + i] = static_cast<std::uint8_t>(sum >> (8 * i));
    for (std::size_t i = 0; i < 8; ++i) file[16 + i] = static_cast<std::uint8_t>(length >> (8 * i));
    return file;
}

}  // namespace

TEST_CASE("Programs survive being written and read", "[isa][program_file]") {
    const auto seed = GENERATE(range(1U, 60U));
    CAPTURE(seed);
    const Program program = RandomPrograms(seed).program();
    CHECK(read_program(file_of(program), "random.tpu") == program);
}

TEST_CASE("Random programs have tensors that stay in memory on either side", "[isa][program_file]") {
    std::array<int, resident_side_names.size()> met{};
    int with_arrays = 0;
    for (unsigned seed = 1; seed < 60; ++seed) {
        const Program program = RandomPrograms(seed).program();
        for (const ResidentTensor& resident : program.residents) {
            ++met.at(static_cast<std::size_t>(resident.side));
            with_arrays += program.arrays ? 1 : 0;
        }
    }
    for (const int times : met) CHECK(times >= 3);
    CHECK(with_arrays >= 2);
}

TEST_CASE("Programs survive a file on disk", "[isa][program_file]") {
    const Program program = small_program();
    const auto path = std::filesystem::temp_directory_path() / "systole_program_file_test.tpu";
    write_program(program, path);
    CHECK(read_program(path) == program);
    std::filesystem::remove(path);
    CHECK_THROWS_MATCHES(read_program(path), ProgramError,
                         Message(path.string() + ": there is no such file"));
    CHECK_THROWS_AS(read_program(std::filesystem::temp_directory_path()), ProgramError);
    CHECK_THROWS_AS(write_program(program, path / "no such folder"), systole::OutputError);
}

TEST_CASE("The file is laid out as specified", "[isa][program_file]") {
    Program program;
    program.geometry = {.rows = 3, .columns = 2};
    program.tiles = {{.rows = 1, .columns = 2, .type = DataType::Int8, .useful_macs = 2, .values = {7, 8}}};
    program.instructions = {Nop{}, DebugTag{.tag = 0}, Halt{}};
    const Bytes content = {
        'A', 'R', 'R', 'Y', 8,  0, 0, 0, 0, 0, 0, 0, 3, 0, 0, 0, 2,    0,    0, 0,  //
        'N', 'E', 'T', 'W', 32, 0, 0, 0, 0, 0, 0, 0,                                //
        0,   0,   0,   0,   0,  0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0,  // model, batch, inferences
        0,   0,   0,   0,   0,  0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0,  // four empty lists
        'B', 'U', 'F', 'S', 4,  0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0,  //
        'T', 'I', 'L', 'E', 19, 0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0,  //
        1,   0,   0,   0,   2,  0, 0, 0, 1, 2, 0, 0, 0, 7, 8,     //
        'C', 'O', 'D', 'E', 9,  0, 0, 0, 0, 0, 0, 0, 3, 0, 0, 0, 0x01, 0x06, 0, 0, 0x02};
    Bytes expected = {0x89, 'T', 'P', 'U', 13, 10, 26, 10, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0};
    expected.insert(expected.end(), content.begin(), content.end());
    CHECK(file_of(program) == sealed(expected));
}

TEST_CASE("Initial rows are a section at the end, in a file of version 2", "[isa][program_file]") {
    Program program;
    program.geometry = {.rows = 3, .columns = 2};
    program.instructions = {Halt{}};
    const Bytes before = file_of(program);
    CHECK(before[8] == 1);
    program.initial[MemoryId::UnifiedBuffer] = {{.first_row = 5, .values = {7, 8, 9, 10}}};
    program.initial[MemoryId::Accumulators] = {
        {.first_row = 258, .values = {1, 0, 0, 0, 255, 255, 255, 255}}};
    const Bytes rows = {'R', 'O', 'W', 'S', 48,  0,   0,   0,  0, 0, 0, 0,                           //
                        1,   0,   0,   0,   5,   0,   0,   0,  4, 0, 0, 0, 0, 0, 0, 0, 7, 8, 9, 10,  //
                        1,   0,   0,   0,   2,   1,   0,   0,  8, 0, 0, 0, 0, 0, 0, 0,               //
                        1,   0,   0,   0,   255, 255, 255, 255};
    Bytes expected = before;
    expected[8] = 2;
    expected.insert(expected.end(), rows.begin(), rows.end());
    expected[before.size() + 4] = static_cast<std::uint8_t>(rows.size() - 12);
    CHECK(file_of(program) == sealed(expected));
    CHECK(read_program(sealed(expected), "rows.tpu") == program);
    // Each program has one file: without rows, it is of version 1.
    Bytes empty = before;
    empty[8] = 2;
    const Bytes no_rows = {'R', 'O', 'W', 'S', 8, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0};
    empty.insert(empty.end(), no_rows.begin(), no_rows.end());
    CHECK_THROWS_WITH(read_program(sealed(empty), "x.tpu"),
                      Contains("byte 8: version is 2; a file of this program must be of version 1"));
    empty[8] = 1;
    CHECK_THROWS_WITH(read_program(sealed(empty), "x.tpu"), Contains("20 bytes too many in the file"));
}

TEST_CASE("State is a section at the end, in a file of version 9", "[isa][program_file]") {
    Program program;
    program.geometry = {.rows = 8, .columns = 8, .tensor = {.lanes = 8}};
    program.batch = 2;
    program.inferences = 6;
    program.inputs = {{.name = "x", .shape = {1}}, {.name = "s", .shape = {3}}};
    program.outputs = {{.name = "t", .shape = {3}}};
    program.instructions = {Halt{}};
    const Bytes before = file_of(program);
    CHECK(before[8] == 8);
    program.state = {{.input = 1, .output = 0}};
    const Bytes section = {'S', 'T', 'A', 'T', 12, 0, 0, 0, 0, 0, 0, 0,  //
                           1,   0,   0,   0,   1,  0, 0, 0, 0, 0, 0, 0};
    Bytes expected = before;
    expected[8] = 9;
    expected.insert(expected.end(), section.begin(), section.end());
    CHECK(file_of(program) == sealed(expected));
    CHECK(read_program(sealed(expected), "state.tpu") == program);
}

TEST_CASE("What files have for arrays is a section at the end, in a file of version 10",
          "[isa][program_file]") {
    Program program;
    program.geometry = {.rows = 8, .columns = 8, .tensor = {.lanes = 8}};
    program.batch = 2;
    program.inferences = 6;
    program.inputs = {{.name = "x", .shape = {1, 3}}};
    program.outputs = {{.name = "y", .shape = {3}}};
    program.instructions = {Halt{}};
    const Bytes before = file_of(program);
    CHECK(before[8] == 8);
    program.inputs[0].split_axis = 1;
    program.arrays = {.replicas = 2,
                      .constants = {{.place = 258,
                                     .tensor = {.name = "c", .shape = {2}, .type = DataType::Bool},
                                     .words = {1, 0, 0, 0, 0, 0, 0, 0}}}};
    const Bytes sections = {'S', 'T', 'A', 'T', 4,  0, 0,    0,    0, 0, 0, 0, 0,   0, 0, 0,  //
                            'F', 'A', 'R', 'R', 62, 0, 0,    0,    0, 0, 0, 0,                //
                            2,   0,   0,   0,   2,  0, 0,    0,    0, 0, 0, 0,       // replicas, splits
                            1,   0,   0,   0,   2,  1, 0,    0,    1, 0, 0, 0, 'c',  //
                            1,   0,   0,   0,   2,  0, 0,    0,                      // shape
                            0,   0,   0,   0,   0,  0, 0xf0, 0x3f, 0, 0, 0, 0, 9,    // scale, zero, type
                            8,   0,   0,   0,   0,  0, 0,    0,    1, 0, 0, 0, 0,   0, 0, 0};
    Bytes expected = before;
    expected[8] = 10;
    expected.insert(expected.end(), sections.begin(), sections.end());
    CHECK(file_of(program) == sealed(expected));
    CHECK(read_program(sealed(expected), "arrays.tpu") == program);
}

TEST_CASE("Tensors that stay in memory are a section at the end, in a file of version 11",
          "[isa][program_file]") {
    Program program;
    program.geometry = {.rows = 8, .columns = 8, .tensor = {.lanes = 8}};
    program.inputs = {{.name = "x", .shape = {2, 3, 5}}};
    program.buffers = {{.name = "x", .kind = BufferKind::Input, .address = 0, .bytes = 480}};
    program.instructions = {Halt{}};
    const Bytes before = file_of(program);
    CHECK(before[8] == 8);
    program.residents = {{.side = ResidentSide::Input,
                          .number = 0,
                          .inferences = 4,
                          .first_row = 258,
                          .inference_rows = 6,
                          .panel_rows = 24,
                          .columns = 5,
                          .axes = {{.extent = 2, .apart = 7}, {.extent = 3, .apart = 1}}}};
    const Bytes sections = {'S', 'T', 'A', 'T', 4,  0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0,              //
                            'F', 'A', 'R', 'R', 4,  0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0,              // no arrays
                            'R', 'E', 'S', 'I', 49, 0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0,              //
                            0,   0,   0,   0,   0,  4, 0, 0, 0, 2, 1, 0, 0, 6, 0, 0, 0,           //
                            24,  0,   0,   0,   5,  0, 0, 0, 2, 0, 0, 0, 2, 0, 0, 0, 7, 0, 0, 0,  //
                            3,   0,   0,   0,   1,  0, 0, 0};
    Bytes expected = before;
    expected[8] = 11;
    expected.insert(expected.end(), sections.begin(), sections.end());
    CHECK(file_of(program) == sealed(expected));
    CHECK(read_program(sealed(expected), "resident.tpu") == program);
    const std::size_t side = before.size() + 2 * 16 + 16;
    expected[side] = 2;
    CHECK_THROWS_WITH(read_program(sealed(expected), "resident.tpu"),
                      Contains("byte " + std::to_string(side) + ": the side is 2; it must be 0 or 1"));
    // Beside arrays, they have their section behind that of the arrays.
    program.arrays.emplace();
    CHECK(read_program(file_of(program), "arrays.tpu") == program);
}

TEST_CASE("Arrays of replicas, and constant outputs, keep to their rules", "[isa][program_file]") {
    Program program;
    program.geometry = {.rows = 8, .columns = 8, .tensor = {.lanes = 8}};
    program.batch = 2;
    program.inferences = 6;
    program.inputs = {{.name = "x", .shape = {1, 3}, .split_axis = 1}};
    program.outputs = {{.name = "y", .shape = {3}}};
    const ConstantOutput constant{
        .place = 3, .tensor = {.name = "c", .shape = {2}}, .words = {1, 0, 0, 0, 0, 0, 0, 0}};
    program.arrays = {.replicas = 2, .constants = {constant}};
    program.instructions = {Halt{}};
    CHECK_NOTHROW(validate(program));
    const auto error_of = [&](const auto& change) -> std::string {
        Program wrong = program;
        change(wrong);
        try {
            validate(wrong);
        } catch (const ProgramError& error) {
            return error.what();
        }
        return "none";
    };
    CHECK(error_of([](Program& wrong) { wrong.geometry.tensor = {}; }) ==
          "arrays: only programs for a tensor core have them");
    CHECK(error_of([](Program& wrong) {
              wrong.inputs[0].split_axis.reset();
              wrong.arrays->replicas = 0;
          }) == "arrays: there are 0 replicas; there must be at least 1");
    CHECK(error_of([](Program& wrong) { wrong.inputs[0].split_axis = 2; }) ==
          "tensor \"x\": it is split along axis 2; it must be below 2, the number of axes");
    CHECK(error_of([](Program& wrong) { wrong.outputs[0].split_axis = 1; }) ==
          "tensor \"y\": it is split along axis 1; it must be below 1, the number of axes");
    CHECK(error_of([](Program& wrong) { wrong.arrays->replicas = 1; }) ==
          "tensor \"x\": it is split; only arrays of several replicas are");
    CHECK(error_of([](Program& wrong) { wrong.arrays.reset(); }) ==
          "tensor \"x\": it is split; only arrays of several replicas are");
    for (const auto& wrong_batch : {std::pair{4U, 8U}, std::pair{2U, 5U}}) {
        const std::uint32_t batch = wrong_batch.first;
        const std::uint32_t inferences = wrong_batch.second;
        CHECK(error_of([&](Program& wrong) {
                  wrong.batch = batch;
                  wrong.inferences = inferences;
              }) == "arrays: there are 2 replicas, batch is " + std::to_string(batch) + " and inferences " +
                        std::to_string(inferences) +
                        "; a batch has an inference for each replica, and all batches are whole");
    }
    CHECK(error_of([&](Program& wrong) { wrong.arrays->constants.push_back(constant); }) ==
          "constant output \"c\": place is 3; the one before has 3");
    CHECK(error_of([](Program& wrong) { wrong.arrays->constants[0].words.pop_back(); }) ==
          "constant output \"c\": the words are 7 bytes; they must be 8");
    CHECK(error_of([](Program& wrong) { wrong.arrays->constants[0].tensor.shape = {0}; }) ==
          "constant output \"c\": a size of the shape is 0; each must be at least 1");
    CHECK(error_of([](Program& wrong) { wrong.arrays->constants[0].tensor.split_axis = 0; }) ==
          "constant output \"c\": it is split or has a conversion; a constant output is neither");
}

TEST_CASE("An input and the output that replaces it fit each other", "[isa][program_file]") {
    Program program;
    program.geometry = {.rows = 8, .columns = 8, .tensor = {.lanes = 8}};
    program.batch = 2;
    program.inferences = 6;
    program.inputs = {{.name = "x", .shape = {3}}, {.name = "s", .shape = {3}}};
    program.outputs = {{.name = "t", .shape = {3}}, {.name = "u", .shape = {4}}};
    program.state = {{.input = 1, .output = 0}};
    program.instructions = {Halt{}};
    CHECK_NOTHROW(validate(program));
    CHECK(inferences_of_input(program, 0) == 6);
    CHECK(inferences_of_input(program, 1) == 2);
    CHECK(inferences_of_output(program, 0) == 2);
    CHECK(inferences_of_output(program, 1) == 6);
    const auto error_of = [&](const auto& change) -> std::string {
        Program wrong = program;
        change(wrong);
        try {
            validate(wrong);
        } catch (const ProgramError& error) {
            return error.what();
        }
        return "none";
    };
    CHECK(error_of([](Program& wrong) { wrong.state[0].input = 2; }) ==
          "state of input 2: the program has 2 inputs");
    CHECK(error_of([](Program& wrong) { wrong.state[0].output = 2; }) ==
          "state of input 1: output 2 replaces it; the program has 2 outputs");
    CHECK(error_of([](Program& wrong) { wrong.state[0].output = 1; }) ==
          "state of input 1: output 1, which replaces it, has another shape or type");
    CHECK(error_of([](Program& wrong) { wrong.outputs[0].type = DataType::Float32; }) ==
          "state of input 1: output 0, which replaces it, has another shape or type");
    CHECK(error_of([](Program& wrong) { wrong.state.push_back({.input = 0, .output = 0}); }) ==
          "state of input 0: output 0 is in another state");
    CHECK(error_of([](Program& wrong) { wrong.state.push_back({.input = 1, .output = 0}); }) ==
          "state of input 1: the input is in another state");
    CHECK(error_of([](Program& wrong) { wrong.inferences = 5; }) ==
          "state of input 1: batch is 2 and inferences 5; with state, all batches are whole");
    CHECK(error_of([](Program& wrong) { wrong.inferences = 0; }) ==
          "state of input 1: batch is 2 and inferences 0; with state, all batches are whole");
    CHECK(error_of([](Program& wrong) { wrong.geometry.tensor = {}; }) ==
          "state of input 1: only programs for a tensor core have state");
}

TEST_CASE("Host segments are a section at the end, in a file of version 3", "[isa][program_file]") {
    Program program;
    program.geometry = {.rows = 3, .columns = 2};
    program.buffers = {{.name = "e", .kind = BufferKind::Output, .address = 0, .bytes = 8, .contents = {}}};
    program.instructions = {Halt{}};
    const Bytes before = file_of(program);
    CHECK(before[8] == 1);
    const HostSegment segment{.name = "s",
                              .layers = {"a", "b"},
                              .operations = 258,
                              .bytes = 3,
                              .constant_bytes = 4,
                              .reads = {},
                              .writes = {{.buffer = 0, .bytes = 2}},
                              .graph = "g\n"};
    program.host_segments = {segment};
    const Bytes sections = {'R', 'O', 'W', 'S', 8,   0,   0, 0, 0, 0, 0, 0, 0, 0,   0, 0, 0, 0, 0,   0,  //
                            'H', 'O', 'S', 'T', 73,  0,   0, 0, 0, 0, 0, 0, 1, 0,   0, 0,                //
                            1,   0,   0,   0,   's', 2,   0, 0, 0, 1, 0, 0, 0, 'a', 1, 0, 0, 0, 'b',     //
                            2,   1,   0,   0,   0,   0,   0, 0, 3, 0, 0, 0, 0, 0,   0, 0,                //
                            4,   0,   0,   0,   0,   0,   0, 0, 0, 0, 0, 0,                              //
                            1,   0,   0,   0,   0,   0,   0, 0, 2, 0, 0, 0, 0, 0,   0, 0,                //
                            2,   0,   0,   0,   'g', '\n'};
    Bytes expected = before;
    expected[8] = 3;
    expected.insert(expected.end(), sections.begin(), sections.end());
    CHECK(file_of(program) == sealed(expected));
    CHECK(read_program(sealed(expected), "host.tpu") == program);

    // What needs the version is what version 2 does not have.
    program.host_segments.clear();
    CHECK(file_of(program)[8] == 1);
    program.buffers[0].kind = BufferKind::Exchange;
    CHECK(file_of(program)[8] == 3);
    CHECK(read_program(file_of(program), "exchange.tpu") == program);
    program.buffers[0].kind = BufferKind::Output;
    program.outputs = {{.name = "y", .shape = {2}, .type = DataType::Int16}};
    CHECK(file_of(program)[8] == 1);
    program.outputs[0].type = DataType::Float32;
    CHECK(file_of(program)[8] == 3);
    CHECK(read_program(file_of(program), "float.tpu") == program);
}

TEST_CASE("The MACs of blocks are a section at the end, in a file of version 4", "[isa][program_file]") {
    Program program;
    program.geometry = {.rows = 3, .columns = 2};
    const WeightTile plain{
        .rows = 1, .columns = 2, .type = DataType::Int8, .useful_macs = 2, .values = {7, 8}};
    program.tiles = {plain, plain};
    program.instructions = {Halt{}};
    const Bytes before = file_of(program);
    CHECK(before[8] == 1);
    program.tiles[1].block_macs = {2, 0};
    const Bytes sections = {'R', 'O', 'W', 'S', 8,  0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0,  //
                            'H', 'O', 'S', 'T', 4,  0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0,              //
                            'B', 'L', 'C', 'K', 20, 0, 0, 0, 0, 0, 0, 0, 2, 0, 0, 0, 0, 0, 0, 0,  //
                            2,   0,   0,   0,   2,  0, 0, 0, 0, 0, 0, 0};
    Bytes expected = before;
    expected[8] = 4;
    expected.insert(expected.end(), sections.begin(), sections.end());
    CHECK(file_of(program) == sealed(expected));
    CHECK(read_program(sealed(expected), "blocks.tpu") == program);
    // An entry for each tile, and one of them not empty.
    Bytes other = expected;
    other[before.size() + 20 + 16 + 12] = 3;
    CHECK_THROWS_WITH(read_program(sealed(other), "x.tpu"), Contains("blocks of 3 tiles; there are 2"));
    other = before;
    other[8] = 4;
    const Bytes none = {'R', 'O', 'W', 'S', 8,  0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0,  //
                        'H', 'O', 'S', 'T', 4,  0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0,              //
                        'B', 'L', 'C', 'K', 12, 0, 0, 0, 0, 0, 0, 0, 2, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0};
    other.insert(other.end(), none.begin(), none.end());
    CHECK_THROWS_WITH(read_program(sealed(other), "x.tpu"),
                      Contains("byte 8: version is 4; a file of this program must be of version 1"));
}

TEST_CASE("The MACs of host segments are a section at the end, in a file of version 5",
          "[isa][program_file]") {
    Program program;
    program.geometry = {.rows = 3, .columns = 2};
    program.buffers = {{.name = "e", .kind = BufferKind::Output, .address = 0, .bytes = 8, .contents = {}}};
    program.instructions = {Halt{}};
    program.host_segments = {{.name = "s",
                              .layers = {"a", "b"},
                              .reads = {},
                              .writes = {{.buffer = 0, .bytes = 2}},
                              .graph = "g\n"}};
    const Bytes before = file_of(program);
    CHECK(before[8] == 3);
    program.host_segments.front().macs = {0, 258};
    const Bytes sections = {'B', 'L', 'C', 'K', 4,  0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0,              //
                            'H', 'M', 'A', 'C', 24, 0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 2, 0, 0, 0,  //
                            0,   0,   0,   0,   0,  0, 0, 0, 2, 1, 0, 0, 0, 0, 0, 0};
    Bytes expected = before;
    expected[8] = 5;
    expected.insert(expected.end(), sections.begin(), sections.end());
    CHECK(file_of(program) == sealed(expected));
    CHECK(read_program(sealed(expected), "macs.tpu") == program);
    // An entry for each segment.
    Bytes other = expected;
    other[before.size() + 16 + 12] = 2;
    CHECK_THROWS_WITH(read_program(sealed(other), "x.tpu"), Contains("MACs of 2 host segments; there are 1"));
}

TEST_CASE("Conversions of inputs are a section at the end, in a file of version 6", "[isa][program_file]") {
    Program program;
    program.geometry = {.rows = 3, .columns = 2};
    program.inputs = {{.name = "x", .shape = {2}}, {.name = "y", .shape = {2}}};
    program.instructions = {Halt{}};
    const Bytes before = file_of(program);
    CHECK(before[8] == 1);
    program.inputs[1].conversion = systole::Conversion::HalfAway;
    const Bytes sections = {'R', 'O', 'W', 'S', 8, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0,  //
                            'H', 'O', 'S', 'T', 4, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0,              //
                            'B', 'L', 'C', 'K', 4, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0,              //
                            'H', 'M', 'A', 'C', 4, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0,              //
                            'C', 'O', 'N', 'V', 6, 0, 0, 0, 0, 0, 0, 0, 2, 0, 0, 0, 0, 2};
    Bytes expected = before;
    expected[8] = 6;
    expected.insert(expected.end(), sections.begin(), sections.end());
    CHECK(file_of(program) == sealed(expected));
    CHECK(read_program(sealed(expected), "conversions.tpu") == program);
    Bytes other = expected;
    other.back() = 3;
    CHECK_THROWS_WITH(read_program(sealed(other), "x.tpu"),
                      Contains("conversion is 3; it must be at most 2"));
    other = expected;
    other[other.size() - 6] = 1;
    CHECK_THROWS_WITH(read_program(sealed(other), "x.tpu"), Contains("conversions of 1 inputs; there are 2"));
    // Only integers that go in have one.
    program.inputs[1].type = DataType::Float32;
    CHECK_THROWS_WITH(file_of(program),
                      Contains("it has conversion half_away; only inputs of integers have"));
    program.inputs.pop_back();
    program.outputs = {{.name = "z", .shape = {2}, .conversion = systole::Conversion::HalfToEven}};
    CHECK_THROWS_WITH(file_of(program), Contains("it has conversion half_to_even; only inputs have one"));
}

TEST_CASE("The tiles are a section at the end, in a file of version 7", "[isa][program_file]") {
    Program program;
    program.geometry.tiles = {.lines = 2, .columns = 3, .lanes = 32, .units = 258};
    program.instructions = {Exchange{.address = 5}, Halt{}};
    Program array;
    array.instructions = {Halt{}};
    Bytes expected = file_of(array);
    expected.pop_back();
    expected[expected.size() - 12] = 9;                 // bytes of CODE
    expected[expected.size() - 4] = 2;                  // instructions
    const Bytes sections = {0x58, 5,   0,   0,   0x02,  //
                            'R',  'O', 'W', 'S', 8,    0, 0, 0, 0,  0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0,  //
                            'H',  'O', 'S', 'T', 4,    0, 0, 0, 0,  0, 0, 0, 0, 0, 0, 0,              //
                            'B',  'L', 'C', 'K', 4,    0, 0, 0, 0,  0, 0, 0, 0, 0, 0, 0,              //
                            'H',  'M', 'A', 'C', 4,    0, 0, 0, 0,  0, 0, 0, 0, 0, 0, 0,              //
                            'C',  'O', 'N', 'V', 4,    0, 0, 0, 0,  0, 0, 0, 0, 0, 0, 0,              //
                            'G',  'R', 'I', 'D', 16,   0, 0, 0, 0,  0, 0, 0,                          //
                            2,    0,   0,   0,   3,    0, 0, 0, 32, 0, 0, 0, 2, 1, 0, 0};
    expected[8] = 7;
    expected.insert(expected.end(), sections.begin(), sections.end());
    CHECK(file_of(program) == sealed(expected));
    CHECK(read_program(sealed(expected), "tiles.tpu") == program);
    // Without tiles, it is a file of a lower version.
    Bytes other = expected;
    other[other.size() - 16] = 0;
    CHECK_THROWS_AS(read_program(sealed(other), "x.tpu"), ProgramError);
    other = expected;
    other[other.size() - 8] = 24;
    CHECK_THROWS_WITH(read_program(sealed(other), "x.tpu"),
                      Contains("tiles: lanes is 24; it must be a multiple of 16 up to 256"));
}

TEST_CASE("The tensor core is a section at the end, in a file of version 8", "[isa][program_file]") {
    Program program;
    program.geometry.tensor = {.lanes = 258, .cores = 3};
    program.chains = {{.name = "c",
                       .sources = {{.spread = Spread::Rows, .packed = true}, {.spread = Spread::Column}},
                       .steps = {{.operation = systole::WordOperation::Constant, .constant = 0x04030201},
                                 {.operation = systole::WordOperation::Add, .operands = {0, 2}}},
                       .results = {{.value = 3, .packed = true}}}};
    program.initial[MemoryId::Hbm] = {{.first_row = 258, .values = {9, 8, 7}}};
    program.instructions = {Halt{}};
    Program array;
    array.instructions = {Halt{}};
    Bytes expected = file_of(array);
    const Bytes sections = {'R', 'O', 'W', 'S', 8,  0, 0, 0, 0,   0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0,  //
                            'H', 'O', 'S', 'T', 4,  0, 0, 0, 0,   0, 0, 0, 0, 0, 0, 0,              //
                            'B', 'L', 'C', 'K', 4,  0, 0, 0, 0,   0, 0, 0, 0, 0, 0, 0,              //
                            'H', 'M', 'A', 'C', 4,  0, 0, 0, 0,   0, 0, 0, 0, 0, 0, 0,              //
                            'C', 'O', 'N', 'V', 4,  0, 0, 0, 0,   0, 0, 0, 0, 0, 0, 0,              //
                            'C', 'O', 'R', 'E', 62, 0, 0, 0, 0,   0, 0, 0,                          //
                            2,   1,   0,   0,   3,  0, 0, 0,                                        //
                            1,   0,   0,   0,   1,  0, 0, 0, 'c',                                   //
                            2,   0,   0,   0,   0,  1, 2, 0,                                        //
                            2,   0,   0,   0,   0,  1, 2, 3, 4,   3, 0, 2,                          //
                            1,   0,   0,   0,   3,  1,                                              //
                            1,   0,   0,   0,   2,  1, 0, 0, 3,   0, 0, 0, 0, 0, 0, 0, 9, 8, 7};
    expected[8] = 8;
    expected.insert(expected.end(), sections.begin(), sections.end());
    CHECK(file_of(program) == sealed(expected));
    CHECK(read_program(sealed(expected), "core.tpu") == program);
    const auto refused = [&](std::size_t from_end, std::uint8_t byte, const std::string& rule) {
        Bytes other = expected;
        other[other.size() - from_end] = byte;
        CHECK_THROWS_WITH(read_program(sealed(other), "x.tpu"), Contains(rule));
    };
    refused(20, 2, "packed of a result is 2; it must be 0 or 1");
    refused(21, 4, "chain \"c\": a result is value 4; there are 4");
    refused(33, 99,
            "operation of a step is 99; it must be below " + std::to_string(systole::word_operation_count));
    refused(39, 4, "spread of a source is 4; it must be below 4");
}

TEST_CASE("A file cut anywhere is an error", "[isa][program_file]") {
    const Bytes file = file_of(GENERATE(small_program(), small_core_program()));
    for (std::size_t length = 0; length < file.size(); ++length) {
        const Bytes cut(file.begin(), file.begin() + static_cast<std::ptrdiff_t>(length));
        REQUIRE_THROWS_AS(read_program(cut, "cut.tpu"), ProgramError);
        // A forger makes length and sum right again: the content is still too short.
        if (length >= header_bytes) REQUIRE_THROWS_AS(read_program(sealed(cut), "cut.tpu"), ProgramError);
    }
}

TEST_CASE("A file with a wrong bit is an error", "[isa][program_file]") {
    Bytes file = file_of(GENERATE(small_program(), small_core_program()));
    for (std::size_t bit = 0; bit < 8 * file.size(); ++bit) {
        const auto mask = static_cast<std::uint8_t>(1U << (bit % 8));
        file[bit / 8] ^= mask;
        REQUIRE_THROWS_AS(read_program(file, "flipped.tpu"), ProgramError);
        file[bit / 8] ^= mask;
    }
    CHECK_NOTHROW(read_program(file, "whole.tpu"));
}

TEST_CASE("Every section ends with what it lists: a byte too many is an error", "[isa][program_file]") {
    constexpr std::size_t name_and_length = 12;
    const Program program = GENERATE(small_program(), small_core_program());
    const Bytes file = file_of(program);
    REQUIRE(read_program(file, "x.tpu") == program);
    std::size_t sections = 0;
    for (std::size_t at = header_bytes; at < file.size(); ++sections) {
        std::uint64_t length = 0;
        for (std::size_t i = 0; i < 8; ++i) length |= std::uint64_t{file[at + 4 + i]} << (8 * i);
        const std::size_t end = at + name_and_length + length;
        INFO("section " << std::string(file.begin() + static_cast<std::ptrdiff_t>(at),
                                       file.begin() + static_cast<std::ptrdiff_t>(at + 4)));
        Bytes longer = file;
        longer.insert(longer.begin() + static_cast<std::ptrdiff_t>(end), std::uint8_t{0});
        for (std::size_t i = 0; i < 8; ++i) {
            longer[at + 4 + i] = static_cast<std::uint8_t>((length + 1) >> (8 * i));
        }
        CHECK_THROWS_AS(read_program(sealed(longer), "x.tpu"), ProgramError);
        at = end;
    }
    CHECK(sections >= 7);
}

TEST_CASE("A forged file is a program that keeps the rules or an error", "[isa][program_file]") {
    const Bytes file = file_of(GENERATE(small_program(), small_core_program()));
    std::size_t accepted = 0;
    std::size_t rejected = 0;
    for (std::size_t byte = header_bytes; byte < file.size(); ++byte) {
        for (const std::uint8_t value : Bytes{0x00, 0x01, 0x7f, 0xff}) {
            Bytes forged = file;
            forged[byte] = value;
            try {
                const Program read = read_program(sealed(forged), "forged.tpu");
                REQUIRE(file_of(read) == sealed(forged));
                ++accepted;
            } catch (const ProgramError&) {
                ++rejected;
            }
        }
    }
    CHECK(accepted > 0);
    CHECK(rejected > 0);
}

TEST_CASE("Errors of a file name it, the byte, the value and the rule", "[isa][program_file]") {
    const auto check = [](const Bytes& file, const std::string& message) {
        CHECK_THROWS_MATCHES(read_program(file, "x.tpu"), ProgramError, Message("x.tpu: byte " + message));
    };
    Program program;
    program.instructions = {Halt{}};
    const Bytes file = file_of(program);
    check({}, "0: magic takes 8 bytes; 0 are left");
    check(Bytes(100), "0: not a program file: the first 8 bytes are not those of one");
    Bytes changed = file;
    changed[8] = 12;
    check(changed, "8: version is 12; this program reads versions 1 to 11");
    changed[8] = 0;
    check(changed, "8: version is 0; this program reads versions 1 to 11");
    changed = file;
    changed.back() = 0x01;
    CHECK_THROWS_WITH(read_program(changed, "x.tpu"),
                      Contains("x.tpu: byte 12: CRC-32 of the content is 0x"));
    changed = file;
    changed.push_back(0);
    check(changed, "16: the content is 114 bytes; the header says 113");
    check(sealed(changed), "137: 1 bytes too many in the file");
    changed = file;
    changed.back() = 0xfe;
    check(sealed(changed), "136: 0xfe is not an opcode");
    changed = file;
    changed[24] = 'B';
    check(sealed(changed), "24: section ARRY must begin here");
    changed = file;
    for (std::size_t i = 28; i < 36; ++i) changed[i] = 0xff;
    check(sealed(changed), "36: ARRY takes 18446744073709551615 bytes; 101 are left");
    changed = file;
    for (std::size_t i = 132; i < 136; ++i) changed[i] = 0xff;
    check(sealed(changed), "132: 4294967295 instructions do not fit the 1 bytes left");
}

TEST_CASE("A program that breaks a rule is not written", "[isa][program_file]") {
    Program program;
    program.instructions = {Halt{}, MatrixMultiply{.unified_buffer_row = 1 << 24, .length = 1}};
    std::ostringstream stream;
    CHECK_THROWS_WITH(write_program(program, stream), Contains("instruction 1: matmul ub=16777216"));
    CHECK(stream.str().empty());
}
