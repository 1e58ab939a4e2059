// Order, registers and host transfers: docs/isa.md, "What a program means", "read_host and write_host".
#include <algorithm>
#include <catch2/catch.hpp>
#include <stdexcept>

#include "hw/isa/program_error.h"
#include "tests/unit/sim/functional/run.h"

using namespace systole;
using namespace systole::functional::tests;

TEST_CASE("read_host_memory begins each block at a new row and keeps the rest of a row") {
    // Blocks of 6 bytes take two rows of 4; the first transfer fills rows 0 to 4 with ones.
    Run run(R"(
        .array 4 2
        .buffer ones constant 0 20 fill 1
        .buffer in input 100 12
        read_host ones ub=0 block=20
        read_host in ub=1 block=6 count=2
        halt)");
    const auto in = run.executor.host_bytes(run.program.buffers[1]);
    for (std::size_t i = 0; i < in.size(); ++i) in[i] = static_cast<std::uint8_t>(10 + i);
    run.executor.run();
    CHECK(run.buffer_row(0) == Bytes{1, 1, 1, 1});
    CHECK(run.buffer_row(1) == Bytes{10, 11, 12, 13});
    CHECK(run.buffer_row(2) == Bytes{14, 15, 1, 1});
    CHECK(run.buffer_row(3) == Bytes{16, 17, 18, 19});
    CHECK(run.buffer_row(4) == Bytes{20, 21, 1, 1});
    CHECK(run.buffer_row(5) == Bytes{0, 0, 0, 0});
}

TEST_CASE("write_host_memory packs its blocks and writes nothing else") {
    Run run(R"(
        .array 4 2
        .buffer in constant 0 16
        .int8 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16
        .buffer out output 0x100 14
        read_host in ub=3 block=16
        write_host out+1 ub=3 block=6 count=2
        halt)");
    run.executor.run();
    CHECK(run.host(1) == Bytes{0, 1, 2, 3, 4, 5, 6, 9, 10, 11, 12, 13, 14, 0});
    CHECK(run.host(0) == run.program.buffers[0].contents);
}

TEST_CASE("A register write applies to the instructions after it and to none before") {
    // Rows 0, 1, 2 hold 1, 2, 3: with a stride of 2 the second streamed row is row 2.
    Run run(R"(
        .array 1 1
        .buffer in constant 0 3
        .int8 1 2 3
        .tile 1 1 fill 1
        read_host in ub=0 block=3
        read_weights tile=0
        matmul ub=0 acc=0 rows=2
        set multiply.row_stride 2
        matmul ub=0 acc=2 rows=2 keep
        halt)");
    run.executor.run();
    CHECK(run.accumulator_row(0) == std::vector<std::int32_t>{1});
    CHECK(run.accumulator_row(1) == std::vector<std::int32_t>{2});
    CHECK(run.accumulator_row(2) == std::vector<std::int32_t>{1});
    CHECK(run.accumulator_row(3) == std::vector<std::int32_t>{3});
}

TEST_CASE("Instructions that only take time or mark layers change nothing") {
    const std::string data = R"(
        .array 2 2
        .buffer in constant 0 4
        .int8 1 2 3 4
        read_host in ub=0 block=4
    )";
    const std::string others = "nop; tag 7; sync.wait matrix sem=3; sync.signal host_read sem=9; interrupt\n";
    Run with(data + others + "halt");
    Run without(data + "halt");
    with.executor.run();
    without.executor.run();
    CHECK(std::ranges::equal(with.executor.unified_buffer(), without.executor.unified_buffer()));
    CHECK(std::ranges::equal(with.executor.accumulators(), without.executor.accumulators()));
    CHECK(with.buffer_row(1) == Bytes{3, 4});
}

TEST_CASE("No instruction after a halt is executed") {
    Run run(R"(
        .array 2 2
        .buffer in constant 0 2 fill 5
        read_host in ub=0 block=2
        halt
        read_host in ub=1 block=2
        read_host 0x999 ub=1 block=2
        halt)");
    run.executor.run();
    CHECK(run.buffer_row(0) == Bytes{5, 5});
    CHECK(run.buffer_row(1) == Bytes{0, 0});
}

TEST_CASE("Every run begins with an empty chip and the host memory as it is") {
    Run run(R"(
        .array 1 1
        .buffer in input 0 1
        .buffer out output 8 1
        .tile 1 1 fill 3
        write_host out ub=0 block=1
        read_host in ub=0 block=1
        read_weights tile=0
        matmul ub=0 acc=0 rows=1 accumulate
        set multiply.row_stride 2
        halt)");
    run.executor.host_bytes(run.program.buffers[0])[0] = 7;
    run.executor.host_bytes(run.program.buffers[1])[0] = 99;
    CHECK(run.buffer_row(0) == Bytes{0});
    for (int time = 0; time < 2; ++time) {
        run.executor.run();
        CHECK(run.host(1) == Bytes{0});  // not the 7 of the run before
        CHECK(run.accumulator_row(0) == std::vector<std::int32_t>{21});
    }
    run.executor.host_bytes(run.program.buffers[0])[0] = 8;
    run.executor.run();
    CHECK(run.accumulator_row(0) == std::vector<std::int32_t>{24});
}

TEST_CASE("Requesting the bytes of another program's buffer is a logic_error") {
    Run run(".array 1 1\n.buffer in input 4 2\nhalt");
    CHECK(run.executor.host_bytes(run.program.buffers[0]).size() == 2);
    isa::HostBuffer other = run.program.buffers[0];
    other.bytes = 3;
    CHECK_THROWS_AS(run.executor.host_bytes(other), std::logic_error);
    other = run.program.buffers[0];
    other.address = 5;
    CHECK_THROWS_AS(run.executor.host_bytes(other), std::logic_error);
}
