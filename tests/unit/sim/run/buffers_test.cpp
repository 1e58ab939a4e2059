#include "sim/run/buffers.h"

#include <catch2/catch.hpp>

#include "hw/isa/program_error.h"

using namespace systole;
using Catch::Matchers::Contains;

namespace {

/// Rows of 4 bytes in the unified buffer and of 3 sums in the accumulators.
machine::MachineConfig small_machine() {
    machine::MachineConfig machine;
    machine.matrix_unit.rows = 4;
    machine.matrix_unit.columns = 3;
    machine.unified_buffer.rows = 16;
    machine.accumulators.rows = 8;
    return machine;
}

run::BufferView find_view(const isa::Program& program, std::string_view text) {
    return run::find_view(program, small_machine(), text);
}

isa::Program with_buffers() {
    isa::Program program;
    program.geometry = {.rows = 4, .columns = 3};
    program.buffers = {{.name = "in", .kind = isa::BufferKind::Input, .address = 0, .bytes = 12},
                       {.name = "in:int8", .kind = isa::BufferKind::Output, .address = 100, .bytes = 3},
                       {.name = "odd", .kind = isa::BufferKind::Output, .address = 200, .bytes = 6}};
    return program;
}

void check_error(const std::string& text, const std::string& what) {
    CAPTURE(text);
    CHECK_THROWS_WITH(find_view(with_buffers(), text), Contains(what));
    CHECK_THROWS_AS(find_view(with_buffers(), text), isa::ProgramError);
}

}  // namespace

TEST_CASE("A view names a buffer, a type and columns", "[run]") {
    const isa::Program program = with_buffers();
    const run::BufferView plain = find_view(program, "in");
    CHECK(plain.buffer == &program.buffers[0]);
    CHECK(plain.type == DataType::Uint8);
    CHECK(plain.columns == 0);
    const run::BufferView typed = find_view(program, "in:int32x3");
    CHECK(typed.buffer == &program.buffers[0]);
    CHECK(typed.type == DataType::Int32);
    CHECK(typed.columns == 3);
    // A name may look like a type: it goes first.
    CHECK(find_view(program, "in:int8").buffer == &program.buffers[1]);
    CHECK(find_view(program, "in:int8:int8").buffer == &program.buffers[1]);
    CHECK(find_view(program, "in:int8x1").buffer == &program.buffers[0]);
}

TEST_CASE("A view names rows of the unified buffer or of the accumulators", "[run]") {
    isa::Program program = with_buffers();
    const run::BufferView bytes = find_view(program, "ub:3+2");
    CHECK(bytes.memory == isa::MemoryId::UnifiedBuffer);
    CHECK(bytes.place == "ub:3+2");
    CHECK(bytes.first_row == 3);
    CHECK(bytes.rows == 2);
    CHECK(bytes.type == DataType::Uint8);
    const run::BufferView typed = find_view(program, "ub:15:int16x2");
    CHECK(typed.place == "ub:15");
    CHECK(typed.rows == 1);
    CHECK(typed.type == DataType::Int16);
    CHECK(typed.columns == 2);
    const run::BufferView sums = find_view(program, "acc:0+8");
    CHECK(sums.memory == isa::MemoryId::Accumulators);
    CHECK(sums.rows == 8);
    CHECK(sums.type == DataType::Int32);
    CHECK(find_view(program, "acc:7:int32x3").columns == 3);
    check_error("ub:16", "the unified buffer has rows 0 to 15");
    check_error("ub:15+2", "the unified buffer has rows 0 to 15");
    check_error("acc:8", "the accumulator memory has rows 0 to 7");
    check_error("acc:0+18446744073709551615", "the accumulator memory has rows 0 to 7");
    check_error("acc:0:int16", "accumulators are int32");
    check_error("ub:0:float", "after the colon");
    check_error("vmem:0",
                "there is no host buffer \"vmem\"; there are: in, in:int8, odd; ub:ROW+ROWS and "
                "acc:ROW+ROWS show rows of the chip");
    for (const char* text : {"ub", "ub:", "ub:+1", "ub:x", "acc:1+", "acc:1+0", "acc:-1", "acc:1+2+3"}) {
        check_error(text, "must have ROW or ROW+ROWS behind it");
    }
    // A host buffer of that name goes first.
    program.buffers[0].name = "acc:1";
    CHECK(find_view(program, "acc:1").buffer == &program.buffers[0]);
}

TEST_CASE("A view names rows of the memories of a tensor core", "[run]") {
    machine::MachineConfig machine;
    machine.family = machine::Family::TensorCore;
    machine.vector_unit.lanes = 4;
    machine.vector_memory.rows = 32;
    machine.hbm.bytes = 64 * machine.vector_row_bytes();
    isa::Program program = with_buffers();
    program.geometry.tensor.lanes = 4;
    const auto find = [&](std::string_view text) { return run::find_view(program, machine, text); };
    const run::BufferView words = find("vmem:30+2");
    CHECK(words.memory == isa::MemoryId::VectorMemory);
    CHECK(words.type == DataType::Float32);
    CHECK(words.first_row == 30);
    CHECK(words.rows == 2);
    CHECK(find("hbm:63:int32x4").memory == isa::MemoryId::Hbm);
    CHECK(find("hbm:63:int32x4").type == DataType::Int32);
    CHECK_THROWS_WITH(find("vmem:32"), Contains("the vector memory has rows 0 to 31"));
    CHECK_THROWS_WITH(find("hbm:63+2"), Contains("the high-bandwidth memory has rows 0 to 63"));
    CHECK_THROWS_WITH(find("ub:0"), Contains("vmem:ROW+ROWS and hbm:ROW+ROWS show rows of the chip"));
}

TEST_CASE("A view names bytes of a tile", "[run][tiles]") {
    machine::MachineConfig machine;
    machine.family = machine::Family::EdgeTpu;
    machine.tile_array.lines = 2;
    machine.tile_array.columns = 3;
    machine.narrow_memory.bytes = 1024;
    isa::Program program = with_buffers();
    const run::BufferView view = run::find_view(program, machine, "tile5:128+16:int8x4");
    CHECK(view.memory == isa::MemoryId::NarrowMemory);
    CHECK(view.tile == 5);
    CHECK(view.first_row == 128);
    CHECK(view.rows == 16);
    CHECK(view.type == DataType::Int8);
    CHECK(view.columns == 4);
    CHECK(run::find_view(program, machine, "tile0:1023").rows == 1);
    const auto check = [&](const std::string& text, const std::string& what) {
        CAPTURE(text);
        CHECK_THROWS_WITH(run::find_view(program, machine, text), Contains(what));
    };
    check("tile6:0", "tile0:BYTE+BYTES to tile5:BYTE+BYTES show bytes of a tile");
    check("tile5:1020+5", "the narrow memory of tile 5 has bytes 0 to 1023");
    check("tile5", "tile5: must have BYTE or BYTE+BYTES behind it");
    check("tile5:0+3:int16", "3 bytes are not a whole number of int16");
    check("tile:0", "there is no host buffer \"tile\"");
    check("ub:0", "tile0:BYTE+BYTES to tile5:BYTE+BYTES");
    check_error("tile0:0", "there is no host buffer \"tile0\"");
    program.buffers[0].name = "tile1";
    CHECK(run::find_view(program, machine, "tile1").buffer == &program.buffers[0]);
}

TEST_CASE("An invalid view is a ProgramError", "[run]") {
    check_error("out", "there is no host buffer \"out\"; there are: in, in:int8, odd");
    check_error("", "there is no host buffer \"\"");
    for (const char* text :
         {"in:", "in:float", "in:int8x", "in:int8x0", "in:int8x-1", "in:int8x2y", "in:x2"}) {
        check_error(text, "after the colon");
    }
    check_error("odd:int32", "6 bytes are not a whole number of int32");
    CHECK_NOTHROW(find_view(with_buffers(), "odd:int16"));
    CHECK_THROWS_WITH(find_view(isa::Program(), "in"), Contains("there are: none; ub:ROW+ROWS"));
}

TEST_CASE("Contents are little endian, and signed except for uint8", "[run]") {
    const isa::Program program = with_buffers();
    const std::vector<std::uint8_t> bytes{0x00, 0x80, 0xff, 0x7f, 0xff, 0xff,
                                          0xff, 0xff, 0x01, 0x00, 0x00, 0x80};
    const auto values = [&](const char* text) {
        return run::read_contents(find_view(program, text), bytes).values;
    };
    CHECK(values("in") == std::vector<double>{0, 128, 255, 127, 255, 255, 255, 255, 1, 0, 0, 128});
    CHECK(values("in:int8x1") == std::vector<double>{0, -128, -1, 127, -1, -1, -1, -1, 1, 0, 0, -128});
    CHECK(values("in:int16") == std::vector<double>{-32768, 32767, -1, -1, 1, -32768});
    CHECK(values("in:int32") == std::vector<double>{0x7fff8000, -1, -0x7fffffff});
}

TEST_CASE("Contents may be float32", "[run]") {
    const std::vector<std::uint8_t> bytes{0x00, 0x00, 0x80, 0x3f, 0x00, 0x00,
                                          0x20, 0xc0, 0xcd, 0xcc, 0xcc, 0x3d};
    const run::BufferContents contents = run::read_contents(find_view(with_buffers(), "in:float32"), bytes);
    CHECK(contents.type == "float32");
    CHECK(contents.values == std::vector<double>{1, -2.5, 0.1F});
}
