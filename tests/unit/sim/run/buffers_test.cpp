#include "sim/run/buffers.h"

#include <catch2/catch.hpp>

#include "hw/isa/program_error.h"

using namespace systole;
using Catch::Matchers::Contains;
using run::find_view;

namespace {

isa::Program with_buffers() {
    isa::Program program;
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

TEST_CASE("An invalid view is a ProgramError", "[run]") {
    check_error("out", "there is no host buffer \"out\"; there are: in, in:int8, odd");
    check_error("", "there is no host buffer \"\"");
    for (const char* text :
         {"in:", "in:float", "in:int8x", "in:int8x0", "in:int8x-1", "in:int8x2y", "in:x2"}) {
        check_error(text, "after the colon");
    }
    check_error("odd:int32", "6 bytes are not a whole number of int32");
    CHECK_NOTHROW(find_view(with_buffers(), "odd:int16"));
    CHECK_THROWS_WITH(find_view(isa::Program(), "in"), Contains("there are: none"));
}

TEST_CASE("Contents are little endian, and signed except for uint8", "[run]") {
    const isa::Program program = with_buffers();
    const std::vector<std::uint8_t> bytes{0x00, 0x80, 0xff, 0x7f, 0xff, 0xff,
                                          0xff, 0xff, 0x01, 0x00, 0x00, 0x80};
    const auto values = [&](const char* text) {
        return run::read_contents(find_view(program, text), bytes).values;
    };
    CHECK(values("in") == std::vector<std::int64_t>{0, 128, 255, 127, 255, 255, 255, 255, 1, 0, 0, 128});
    CHECK(values("in:int8x1") == std::vector<std::int64_t>{0, -128, -1, 127, -1, -1, -1, -1, 1, 0, 0, -128});
    CHECK(values("in:int16") == std::vector<std::int64_t>{-32768, 32767, -1, -1, 1, -32768});
    CHECK(values("in:int32") == std::vector<std::int64_t>{0x7fff8000, -1, -0x7fffffff});
}
