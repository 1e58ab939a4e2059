// The encodings of docs/isa.md, "Encoding", to the bit.
#include "hw/isa/encoding.h"

#include <algorithm>
#include <catch2/catch.hpp>
#include <cstdint>
#include <set>
#include <string>
#include <variant>
#include <vector>

#include "hw/isa/assembly.h"
#include "hw/isa/footprint.h"
#include "hw/isa/program_error.h"
#include "tests/unit/hw/isa/random_program.h"

using namespace systole::isa;
using Catch::Matchers::Message;
using systole::DataType;
using systole::isa::tests::RandomPrograms;

namespace {

using Bytes = std::vector<std::uint8_t>;

Bytes encoded(const Instruction& instruction) {
    Bytes bytes;
    encode(instruction, bytes);
    return bytes;
}

Instruction decoded(const Bytes& bytes) {
    std::size_t offset = 0;
    return decode(bytes, offset);
}

}  // namespace

TEST_CASE("Instructions are encoded as specified", "[isa][encoding]") {
    CHECK(encoded(Nop{}) == Bytes{0x01});
    CHECK(encoded(Halt{}) == Bytes{0x02});
    CHECK(encoded(SyncWait{.unit = QueueId::Activation, .semaphore = 200}) == Bytes{0x03, 4, 200});
    CHECK(encoded(SyncSignal{.unit = QueueId::HostRead, .semaphore = 7}) == Bytes{0x04, 0, 7});
    CHECK(encoded(InterruptHost{}) == Bytes{0x05});
    CHECK(encoded(DebugTag{.tag = 0x1234}) == Bytes{0x06, 0x34, 0x12});
    CHECK(encoded(SetConfig{.reg = Register::WindowStrideY, .value = 0x04030201}) ==
          Bytes{0x07, 6, 1, 2, 3, 4});
    CHECK(encoded(ReadHostMemory{.host_address = 0x0504030201,
                                 .unified_buffer_row = 0x080706,
                                 .block_bytes = 0x0c0b0a09,
                                 .blocks = 0x0e0d}) ==
          Bytes{0x10, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14});
    CHECK(encoded(WriteHostMemory{.host_address = 0x0504030201,
                                  .unified_buffer_row = 0x080706,
                                  .block_bytes = 0x0c0b0a09,
                                  .blocks = 0x0e0d}) ==
          Bytes{0x11, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14});
    CHECK(encoded(WriteWeights{.tile = 0x04030201,
                               .unified_buffer_row = 0x070605,
                               .first_byte = 0x0908,
                               .stride = 0x0d0c0b0a,
                               .rows = 0x0f0e,
                               .columns = 0x1110,
                               .blocks = 0x1312,
                               .is_signed = false,
                               .transposed = true}) ==
          Bytes{0x14, 2, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19});
    CHECK(encoded(WriteWeights{.is_signed = true}).at(1) == 1);
    CHECK(encoded(ReadWeights{.first_tile = 0x04030201, .tiles = 0x0605}) == Bytes{0x12, 1, 2, 3, 4, 5, 6});
    CHECK(encoded(MatrixMultiply{.unified_buffer_row = 0x040302,
                                 .accumulator_row = 0x0605,
                                 .length = 0x0a090807,
                                 .flags = {},
                                 .repeat = 1}) == Bytes{0x20, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10});
    CHECK(encoded(Convolve{.unified_buffer_row = 0x040302,
                           .accumulator_row = 0x0605,
                           .first_line = 0x0807,
                           .lines = 0x0a09,
                           .flags = {},
                           .repeat = 1}) == Bytes{0x21, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10});
    CHECK(encoded(Activate{.accumulator_row = 0x0504,
                           .unified_buffer_row = 0x030201,
                           .length = 0x0706,
                           .first_output = 0x0b0a0908}) == Bytes{0x30, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11});
    CHECK(encoded(Vector{.operation = VectorOperation::Multiply,
                         .destination_row = 0x030201,
                         .source_row = 0x060504,
                         .other_row = 0x090807,
                         .length = 0x0d0c0b0a}) ==
          Bytes{0x31, 1, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 0, 0, 0, 0, 10, 11, 12, 13});
    CHECK(encoded(Vector{.operation = VectorOperation::MaxPool, .length = 1, .first_line = 0x04030201}) ==
          Bytes{0x31, 3, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 2, 3, 4, 1, 0, 0, 0});
}

TEST_CASE("Instructions for tiles are encoded as specified", "[isa][encoding]") {
    CHECK(encoded(ReadProgram{.bytes = 0x04030201}) == Bytes{0x40, 1, 2, 3, 4});
    CHECK(encoded(ReadParameters{.host_address = 0x0504030201, .unit = 0x080706, .units = 0x0c0b0a09}) ==
          Bytes{0x41, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12});
    CHECK(encoded(ReadTensor{.host_address = 0x0504030201, .address = 0x080706}) ==
          Bytes{0x42, 1, 2, 3, 4, 5, 6, 7, 8});
    CHECK(encoded(WriteTensor{.host_address = 0x0605040302, .address = 0x090807, .over_lanes = true}) ==
          Bytes{0x43, 1, 2, 3, 4, 5, 6, 7, 8, 9});
    CHECK(encoded(StreamParameters{.host_address = 0x0504030201,
                                   .rows = 0x09080706,
                                   .units = 10,
                                   .groups = 0x0c0b,
                                   .repeats = 0x100f0e0d}) ==
          Bytes{0x44, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16});
    for (const bool streamed : {false, true}) {
        CHECK(encoded(Multicast{.parameters = 0x0504030201,
                                .rows = 0x09080706,
                                .units = 10,
                                .groups = 0x0c0b,
                                .repeats = 0x100f0e0d,
                                .streamed = streamed}) ==
              Bytes{0x50, streamed, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16});
    }
    CHECK(encoded(Collect{.destination = 0x040302, .source = 0x070605, .over_lanes = true}) ==
          Bytes{0x51, 1, 2, 3, 4, 5, 6, 7});
    CHECK(encoded(Exchange{.address = 0x030201}) == Bytes{0x58, 1, 2, 3});
    CHECK(encoded(Move{.result = 0x040302, .source = 0x070605}) == Bytes{0x59, 0, 2, 3, 4, 5, 6, 7});
    CHECK(
        encoded(Permute{.order = AxisOrder::ChannelsColumnsLines, .result = 0x040302, .source = 0x070605}) ==
        Bytes{0x5a, 5, 2, 3, 4, 5, 6, 7});
    CHECK(encoded(Move{.keeps = true})[1] == 0x01);
    CHECK(encoded(Move{.repeats = true})[1] == 0x02);
    CHECK(encoded(TileMultiply{.product = TileProduct::Depthwise,
                               .scaling = Scaling::ToEven,
                               .result = 0x060504,
                               .source = 0x090807,
                               .parameters = 0x0e0d0c0b0a}) ==
          Bytes{0x60, 1, 1, 0, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14});
    CHECK(encoded(TileVector{.operation = TileOperation::Subtract,
                             .scaling = Scaling::Float,
                             .is_signed = true,
                             .result = 0x060504,
                             .source = 0x090807,
                             .other = 0x0c0b0a}) == Bytes{0x61, 1, 3, 1, 4, 5, 6, 7, 8, 9, 10, 11, 12});
    const TileVector table{.operation = TileOperation::Softmax, .other = 0x0c0b0a};
    CHECK(encoded(table) == Bytes{0x61, 10, 0, 0, 0, 0, 0, 0, 0, 0, 10, 11, 12});
    const auto places = [](bool half_pixel, bool align_corners) {
        return encoded(TileVector{.operation = TileOperation::Interpolate,
                                  .half_pixel = half_pixel,
                                  .align_corners = align_corners})[3];
    };
    CHECK(places(true, false) == 0x04);
    CHECK(places(false, true) == 0x08);
    const auto flags = [](const TileMultiply& multiply) { return encoded(multiply)[3]; };
    CHECK(flags({.is_signed = true}) == 0x01);
    CHECK(flags({.has_signed_weights = true}) == 0x02);
    CHECK(flags({.by_channel = true}) == 0x04);
    CHECK(flags({.streamed = true}) == 0x08);
}

TEST_CASE("Instructions of a tensor core have their bytes", "[isa][encoding]") {
    CHECK(encoded(Infeed{.host_address = 0x0504030201,
                         .hbm_row = 0x09080706,
                         .rows = 0x0d0c0b0a,
                         .columns = 0x100f0e,
                         .packed = true}) ==
          Bytes{0x70, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 0x80});
    // Of programs that were written before there were flags, it is the last byte of columns.
    CHECK(encoded(Infeed{.rows = 1, .columns = 0xffffff}).back() == 0);
    CHECK(encoded(Outfeed{.host_address = 0x0504030201,
                          .hbm_row = 0x09080706,
                          .rows = 0x0d0c0b0a,
                          .columns = 0x11100f0e}) ==
          Bytes{0x71, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17});
    CHECK(encoded(DmaIn{.hbm_row = 0x04030201, .row = 0x070605, .rows = 0x0a0908, .blocks = 0x0d0c0b}) ==
          Bytes{0x72, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13});
    CHECK(encoded(DmaOut{.hbm_row = 0x04030201, .row = 0x070605, .rows = 0x0a0908, .blocks = 0x0d0c0b}) ==
          Bytes{0x73, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13});
    CHECK(encoded(GatherRows{.hbm_row = 0x04030201,
                             .table_rows = 0x08070605,
                             .indices = 0x0c0b0a09,
                             .row = 0x0f0e0d,
                             .rows = 0x1110,
                             .blocks = 0x141312}) ==
          Bytes{0x7c, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20});
    CHECK(encoded(LoadWeights{
              .source = 0x040302, .depth = 0x0605, .columns = 0x0807, .part = 2, .transposed = true}) ==
          Bytes{0x74, 1, 2, 3, 4, 5, 6, 7, 8, 2});
    CHECK(encoded(LoadWeights{.depth = 1, .columns = 1, .packed = true})[1] == 2);
    CHECK(encoded(Product{.result = 0x040302,
                          .source = 0x070605,
                          .rows = 0x0b0a0908,
                          .depth = 0x0d0c,
                          .columns = 0x0f0e,
                          .part = 1,
                          .accumulate = true}) ==
          Bytes{0x75, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 1});
    const auto flags = [](Product product) {
        product.rows = product.depth = product.columns = 1;
        return encoded(product)[1];
    };
    CHECK(flags({.keep_weights = true}) == 2);
    CHECK(flags({.windows = true}) == 4);
    CHECK(flags({.packed = true}) == 8);
    CHECK(encoded(RunChain{.chain = 0x0201,
                           .rows = 0x06050403,
                           .columns = 0x0a090807,
                           .results = {0x0d0c0b, 0x100f0e},
                           .sources = {0x131211, 0x161514, 0x191817, 0x1c1b1a}}) ==
          Bytes{0x76, 1,  2,  3,  4,  5,  6,  7,  8,  9,  10, 11, 12, 13, 14,
                15,   16, 17, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28});
    CHECK(encoded(ReduceRows{.reduction = systole::Reduction::Maximum,
                             .accumulate = true,
                             .result = 0x050403,
                             .source = 0x080706,
                             .rows = 0x0c0b0a09,
                             .columns = 0x100f0e0d}) ==
          Bytes{0x77, 2, 1, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16});
    CHECK(encoded(ReduceLanes{.reduction = systole::Reduction::Minimum,
                              .result = 0x040302,
                              .source = 0x070605,
                              .rows = 0x0b0a0908,
                              .columns = 0x0f0e0d0c}) ==
          Bytes{0x78, 3, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15});
    const std::vector<std::string> reductions{
        "sum",         "product",      "maximum",      "minimum", "sum_int", "product_int", "maximum_int",
        "minimum_int", "maximum_uint", "minimum_uint", "and",     "or",      "xor"};
    CHECK(std::ranges::equal(reductions, systole::reduction_names));
    for (std::uint8_t code = 0; code < reductions.size(); ++code) {
        INFO(reductions[code]);
        const auto of_lanes = assemble(
            ".tensor_core 8 8 lanes=8\nreduce_lanes " + reductions[code] + " dst=9 src=0 rows=1 columns=1",
            "test");
        CHECK(encoded(std::get<ReduceLanes>(of_lanes.instructions[0])).at(1) == code);
        const auto of_rows = assemble(
            ".tensor_core 8 8 lanes=8\nreduce_rows " + reductions[code] + " dst=9 src=0 rows=1 columns=1",
            "test");
        CHECK(encoded(std::get<ReduceRows>(of_rows.instructions[0])).at(1) == code);
    }
    CHECK(encoded(Transpose{.result = 0x030201, .source = 0x060504, .rows = 0x0807, .columns = 0x0a09}) ==
          Bytes{0x79, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10});
    CHECK(encoded(MoveLanes{.result = 0x030201,
                            .source = 0x060504,
                            .rows = 0x0a090807,
                            .columns = 0x0e0d0c0b,
                            .first = 0x1211100f,
                            .to = 0x16151413}) ==
          Bytes{0x7a, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21, 22});
    CHECK(encoded(Collective{.kind = CollectiveKind::ReduceScatter,
                             .cores = 8,
                             .result = 0x030201,
                             .source = 0x060504,
                             .rows = 0x090807}) == Bytes{0x7b, 2, 8, 1, 2, 3, 4, 5, 6, 7, 8, 9});
}

TEST_CASE("Flags have their bits", "[isa][encoding]") {
    const auto matrix = [](MatrixFlags flags) {
        return encoded(MatrixMultiply{.length = 1, .flags = flags})[1];
    };
    CHECK(matrix({.accumulate = true}) == 0x01);
    CHECK(matrix({.keep_weights = true}) == 0x02);
    CHECK(matrix({.activations = DataType::Int8}) == 0x04);
    CHECK(matrix({.activations = DataType::Uint16}) == 0x08);
    CHECK(matrix({.activations = DataType::Int16}) == 0x0c);
    CHECK(matrix({.activations = DataType::Bfloat16}) == 0x20);
    CHECK(matrix({.activations = DataType::Float32}) == 0x24);
    CHECK(matrix({.activations = DataType::Int32}) == 0x28);
    CHECK(matrix({.weights = DataType::Int16}) == 0x10);
    CHECK(matrix({.weights = DataType::Bfloat16}) == 0x40);
    CHECK(matrix({.weights = DataType::Float32}) == 0x50);
    CHECK(matrix({.weights = DataType::Uint8}) == 0x80);
    CHECK(matrix({.weights = DataType::Uint16}) == 0x90);
    CHECK(matrix({.weights = DataType::Int32}) == 0xc0);
    const auto activate = [](Activate instruction) {
        instruction.length = 1;
        return encoded(instruction)[1];
    };
    CHECK(activate({.function = ActivationFunction::Lookup}) == 0x01);
    CHECK(activate({.load_parameters = true}) == 0x02);
    CHECK(activate({.output = DataType::Int16}) == 0x04);
    CHECK(activate({.output = DataType::Int8}) == 0x08);
    CHECK(activate({.multipliers = Multipliers::Real}) == 0x20);
    CHECK(activate({.multipliers = Multipliers::ToEven}) == 0x40);
    CHECK(activate({.multipliers = Multipliers::RealToEven}) == 0x60);
    const auto vector = [](Vector instruction) {
        instruction.length = 1;
        instruction.operation = VectorOperation::AveragePool;
        return encoded(instruction)[2];
    };
    CHECK(vector({.elements = DataType::Int8}) == 0x01);
    CHECK(vector({.count_padding = true}) == 0x02);
    CHECK(encoded(Vector{.length = 1, .elements = DataType::Int16})[2] == 0x04);
    CHECK(encoded(Vector{.length = 1, .half_to_even = true})[2] == 0x10);
}

TEST_CASE("Bits without a meaning must be 0", "[isa][encoding]") {
    for (const Instruction& instruction :
         {Instruction(MatrixMultiply{.length = 1}), Instruction(Convolve{.lines = 1}),
          Instruction(Activate{.length = 1}), Instruction(Vector{.length = 1})}) {
        const bool is_vector = std::holds_alternative<Vector>(instruction);
        const std::size_t flags = is_vector ? 2 : 1;
        const bool is_matrix = !is_vector && !std::holds_alternative<Activate>(instruction);
        const unsigned used = is_matrix ? 8 : is_vector ? 5 : 7;
        for (unsigned bit = used; bit < 8; ++bit) {
            Bytes bytes = encoded(instruction);
            bytes[flags] = static_cast<std::uint8_t>(1U << bit);
            CHECK_THROWS_AS(decoded(bytes), ProgramError);
        }
    }
    struct Flags {
        Instruction instruction;
        std::size_t place;
        unsigned used;
    };
    const Flags of_tiles[] = {{WriteTensor{}, 1, 1},
                              {Multicast{.rows = 1, .units = 1, .groups = 1, .repeats = 1}, 1, 1},
                              {Collect{}, 1, 1},
                              {TileMultiply{}, 3, 5},
                              {TileVector{}, 3, 2},
                              {LoadWeights{.depth = 1, .columns = 1}, 1, 2},
                              {Product{.rows = 1, .depth = 1, .columns = 1}, 1, 4},
                              {ReduceRows{.rows = 1, .columns = 1}, 2, 1}};
    for (const auto& [instruction, place, used] : of_tiles) {
        for (unsigned bit = used; bit < 8; ++bit) {
            Bytes bytes = encoded(instruction);
            bytes[place] = static_cast<std::uint8_t>(1U << bit);
            CHECK_THROWS_AS(decoded(bytes), ProgramError);
        }
    }
}

TEST_CASE("Every instruction survives encoding and decoding", "[isa][encoding]") {
    const auto seed = GENERATE(1U, 2U, 3U);
    CAPTURE(seed);
    RandomPrograms random(seed);
    Bytes stream;
    std::vector<Instruction> expected;
    for (std::size_t kind = 0; kind < std::variant_size_v<Instruction>; ++kind) {
        for (int i = 0; i < 200; ++i) {
            expected.push_back(random.instruction(kind));
            const std::size_t before = stream.size();
            encode(expected.back(), stream);
            REQUIRE(stream.size() - before == encoded_size(expected.back()));
        }
    }
    std::size_t offset = 0;
    for (const Instruction& instruction : expected) REQUIRE(decode(stream, offset) == instruction);
    CHECK(offset == stream.size());
}

TEST_CASE("A cut instruction is an error at every length", "[isa][encoding]") {
    RandomPrograms random(4);
    for (std::size_t kind = 0; kind < std::variant_size_v<Instruction>; ++kind) {
        const Bytes whole = encoded(random.instruction(kind));
        for (std::size_t length = 0; length < whole.size(); ++length) {
            CHECK_THROWS_AS(decoded({whole.begin(), whole.begin() + static_cast<std::ptrdiff_t>(length)}),
                            ProgramError);
        }
    }
}

TEST_CASE("Only the specified opcodes exist", "[isa][encoding]") {
    const std::set<int> opcodes = {0x01, 0x02, 0x03, 0x04, 0x05, 0x06, 0x07, 0x10, 0x11, 0x12, 0x13,
                                   0x14, 0x20, 0x21, 0x30, 0x31, 0x40, 0x41, 0x42, 0x43, 0x44, 0x50,
                                   0x51, 0x58, 0x59, 0x5a, 0x60, 0x61, 0x70, 0x71, 0x72, 0x73, 0x74,
                                   0x75, 0x76, 0x77, 0x78, 0x79, 0x7a, 0x7b, 0x7c};
    for (int opcode = 0; opcode < 256; ++opcode) {
        CAPTURE(opcode);
        Bytes bytes(32, 1);  // fields that every instruction accepts
        bytes[0] = static_cast<std::uint8_t>(opcode);
        // `keep` needs repeat 0, and flags 1 with operation 1 suit the rest.
        if (opcodes.count(opcode) == 0) {
            CHECK_THROWS_AS(decoded(bytes), ProgramError);
        } else if (opcode == 0x70) {
            CHECK_THROWS_WITH(decoded(bytes),
                              "byte 0: infeed: flags are 0x01; other bits than 0x80 must be 0");
            bytes[17] = 0;
            CHECK_NOTHROW(decoded(bytes));
        } else if (opcode == 0x31) {
            bytes[1] = 3;  // a pooling operation: `line` and `other` are not for all
            bytes[9] = bytes[10] = bytes[11] = 0;
            CHECK_NOTHROW(decoded(bytes));
        } else {
            CHECK_NOTHROW(decoded(bytes));
        }
    }
}

TEST_CASE("Errors name the byte, the instruction, the value and the rule", "[isa][encoding]") {
    const Bytes zero_rows = {0x01, 0x20, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0};
    std::size_t offset = 1;
    CHECK_THROWS_MATCHES(decode(zero_rows, offset), ProgramError,
                         Message("byte 1: matmul: rows is 0; it must be at least 1"));
    CHECK(offset == 1);
    CHECK_THROWS_MATCHES(decoded({0xee}), ProgramError, Message("byte 0: 0xee is not an opcode"));
    CHECK_THROWS_MATCHES(decoded({0x07, static_cast<std::uint8_t>(register_count), 0, 0, 0, 0}), ProgramError,
                         Message("byte 0: set: register is " + std::to_string(register_count) +
                                 "; it must be below " + std::to_string(register_count)));
    CHECK_THROWS_MATCHES(decoded({0x03, 15, 0}), ProgramError,
                         Message("byte 0: sync.wait: unit is 15; it must be below 15"));
    CHECK_THROWS_MATCHES(decoded({0x12, 0, 0, 0, 0, 0, 0}), ProgramError,
                         Message("byte 0: read_weights: count is 0; it must be at least 1"));
    CHECK_THROWS_MATCHES(decoded({0x20, 2, 1, 0, 0, 0, 0, 0, 1, 0, 0, 0}), ProgramError,
                         Message("byte 0: matmul: repeat must be 0 with keep"));
    CHECK_THROWS_MATCHES(decoded({0x31, 3, 4, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0}),
                         ProgramError, Message("byte 0: vector: wide is not for pooling"));
    CHECK_THROWS_MATCHES(decoded({0x31, 1, 5, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0}),
                         ProgramError,
                         Message("byte 0: vector: signed is not for wide elements, which always are"));
    const auto refused = [](const Instruction& instruction, const std::string& rule) {
        Bytes bytes;
        CHECK_THROWS_WITH(encode(instruction, bytes), Catch::Matchers::EndsWith(": " + rule));
    };
    refused(TileMultiply{.product = TileProduct::Dense, .streamed = true}, "streamed is not for dense");
    refused(TileMultiply{.product = TileProduct::Dense, .with_margins = true},
            "with_margins is not for dense");
    refused(TileMultiply{.scaling = Scaling::Real}, "scaling real is for by_channel");
    refused(TileVector{.operation = TileOperation::Requantize, .other = 1},
            "other is for operations on two operands");
    refused(TileVector{.scaling = Scaling::Real}, "scaling real is for tile_multiply");
    refused(TileVector{.operation = TileOperation::AveragePool, .scaling = Scaling::ToEven},
            "scaling to_even is for operations that scale");
    const std::string for_interpolate = "half_pixel and align_corners are for interpolate";
    refused(TileVector{.half_pixel = true}, for_interpolate);
    refused(TileVector{.operation = TileOperation::MaxPool, .align_corners = true}, for_interpolate);
    refused(TileVector{.operation = TileOperation::Interpolate, .half_pixel = true, .align_corners = true},
            "half_pixel and align_corners exclude each other");
    refused(TileVector{.operation = TileOperation::Lookup, .scaling = Scaling::Float},
            "scaling float is for operations that round");
    refused(TileVector{.operation = TileOperation::Softmax, .scaling = Scaling::ToEven},
            "scaling to_even is for operations that scale");
    refused(TileVector{.operation = TileOperation::MaxPool, .scaling = Scaling::Float},
            "scaling float is for operations that round");
    for (const Scaling scaling : {Scaling::FixedPoint, Scaling::ToEven}) {
        refused(TileVector{.operation = TileOperation::BiasedSumPool, .scaling = scaling},
                "biased_sum_pool has the scaling float");
    }
    for (const Scaling scaling : {Scaling::ToEven, Scaling::Float}) {
        refused(TileVector{.operation = TileOperation::SquaredDifference, .scaling = scaling},
                "squared_difference has the scaling fixed_point");
    }
    refused(TileVector{.operation = TileOperation::Normalize, .scaling = Scaling::ToEven},
            "scaling to_even is for operations that scale");
    refused(TileVector{.operation = TileOperation::Normalize, .scaling = Scaling::Float},
            "scaling float is for operations that round");
    refused(LoadWeights{.depth = 1, .columns = 1, .part = 3}, "part must be 0, 1 or 2");
    refused(LoadWeights{.depth = 1, .columns = 1, .part = 1, .packed = true}, "bfloat16 has one part");
    refused(Product{.rows = 1, .depth = 1, .columns = 1, .part = 3}, "part must be 0, 1 or 2");
    refused(Product{.rows = 1, .depth = 1, .columns = 1, .part = 2, .packed = true}, "bfloat16 has one part");
}

TEST_CASE("Number formats without a datapath are errors that name them", "[isa][encoding]") {
    Bytes bytes;
    CHECK_THROWS_MATCHES(
        encode(Activate{.length = 1, .output = DataType::Bfloat16}, bytes), ProgramError,
        Message("activate ub=0 acc=0 rows=1 identity output=bfloat16: output is bfloat16; the "
                "activation unit has uint8, int8 and int16"));
    CHECK_THROWS_MATCHES(
        decoded({0x30, 0x14, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0}), ProgramError,
        Message("byte 0: activate: output is float32; the activation unit has uint8, int8 and "
                "int16"));
    CHECK_THROWS_MATCHES(decoded({0x31, 1, 8, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0}),
                         ProgramError,
                         Message("byte 0: vector: elements is bfloat16; the activation unit has uint8, int8 "
                                 "and int16"));
    // Codes that no format has.
    CHECK_THROWS_MATCHES(decoded({0x20, 0x2c, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0}), ProgramError,
                         Message("byte 0: matmul: the code of its number format is reserved"));
    CHECK_THROWS_MATCHES(decoded({0x20, 0xd0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0}), ProgramError,
                         Message("byte 0: matmul: the code of its number format is reserved"));
}

TEST_CASE("A field that does not fit its encoding is an error, and nothing is appended", "[isa][encoding]") {
    Bytes bytes = {9};
    encode(MatrixMultiply{.unified_buffer_row = 0xffffff, .length = 1}, bytes);
    REQUIRE(bytes.size() == 13);
    CHECK_THROWS_MATCHES(
        encode(MatrixMultiply{.unified_buffer_row = 0x1000000, .length = 1}, bytes), ProgramError,
        Message("matmul ub=16777216 acc=0 rows=1: ub is 16777216; it must be at most 16777215"));
    CHECK(bytes.size() == 13);
    CHECK_NOTHROW(encoded(ReadHostMemory{.host_address = 0xffffffffff, .block_bytes = 1}));
    CHECK_THROWS_AS(encoded(ReadHostMemory{.host_address = 0x10000000000, .block_bytes = 1}), ProgramError);
    CHECK_THROWS_AS(encoded(ReadHostMemory{.block_bytes = 0}), ProgramError);
    CHECK_THROWS_AS(encoded(WriteHostMemory{.block_bytes = 1, .blocks = 0}), ProgramError);
    CHECK_THROWS_AS(encoded(SyncWait{.unit = static_cast<QueueId>(15)}), ProgramError);
    CHECK_THROWS_AS(encoded(SetConfig{.reg = static_cast<Register>(register_count)}), ProgramError);
    CHECK_THROWS_AS(encoded(Convolve{.lines = 0}), ProgramError);
    CHECK_THROWS_AS(encoded(Activate{.length = 0}), ProgramError);
    CHECK_THROWS_AS(encoded(Vector{.length = 0}), ProgramError);
    CHECK_THROWS_AS(encoded(Vector{.operation = VectorOperation::Lookup, .other_row = 1, .length = 1}),
                    ProgramError);
    CHECK_THROWS_AS(encoded(Vector{.operation = VectorOperation::Add, .length = 1, .first_line = 1}),
                    ProgramError);
    CHECK_THROWS_AS(encoded(Vector{.operation = VectorOperation::Add, .length = 1, .count_padding = true}),
                    ProgramError);
    CHECK_THROWS_AS(encoded(ReadProgram{}), ProgramError);
    CHECK_THROWS_AS(encoded(ReadParameters{.unit = 1 << 24, .units = 1}), ProgramError);
    CHECK_THROWS_AS(encoded(Exchange{.address = 1 << 24}), ProgramError);
    CHECK_THROWS_AS(encoded(Multicast{.rows = 1, .units = 1, .groups = 1}), ProgramError);
    CHECK_THROWS_AS(encoded(TileMultiply{.parameters = std::uint64_t{1} << 40}), ProgramError);
}

TEST_CASE("Units take the instructions of their queue", "[isa][encoding]") {
    CHECK_FALSE(queue_of(Nop{}));
    CHECK_FALSE(queue_of(Halt{}));
    CHECK_FALSE(queue_of(DebugTag{}));
    CHECK_FALSE(queue_of(SetConfig{}));
    CHECK(queue_of(SyncWait{.unit = QueueId::Weights}) == QueueId::Weights);
    CHECK(queue_of(SyncSignal{.unit = QueueId::HostWrite}) == QueueId::HostWrite);
    CHECK(queue_of(InterruptHost{}) == QueueId::HostWrite);
    CHECK(queue_of(ReadHostMemory{}) == QueueId::HostRead);
    CHECK(queue_of(WriteHostMemory{}) == QueueId::HostWrite);
    CHECK(queue_of(ReadWeights{}) == QueueId::Weights);
    CHECK(queue_of(WriteWeights{}) == QueueId::WeightWrite);
    CHECK(queue_of(MatrixMultiply{}) == QueueId::Matrix);
    CHECK(queue_of(Convolve{}) == QueueId::Matrix);
    CHECK(queue_of(Activate{}) == QueueId::Activation);
    CHECK(queue_of(Vector{}) == QueueId::Activation);
    CHECK(queue_of(ReadProgram{}) == QueueId::HostRead);
    CHECK(queue_of(ReadParameters{}) == QueueId::HostRead);
    CHECK(queue_of(ReadTensor{}) == QueueId::HostRead);
    CHECK(queue_of(WriteTensor{}) == QueueId::HostWrite);
    CHECK(queue_of(StreamParameters{}) == QueueId::HostRead);
    CHECK(queue_of(Multicast{}) == QueueId::Ring);
    CHECK(queue_of(Collect{}) == QueueId::Ring);
    CHECK(queue_of(Exchange{}) == QueueId::Mesh);
    CHECK(queue_of(Move{}) == QueueId::Mesh);
    CHECK(queue_of(TileMultiply{}) == QueueId::Tiles);
    CHECK(queue_of(TileVector{}) == QueueId::Tiles);
    CHECK(queue_of(Infeed{}) == QueueId::HostRead);
    CHECK(queue_of(Outfeed{}) == QueueId::HostWrite);
    CHECK(queue_of(DmaIn{}) == QueueId::DmaIn);
    CHECK(queue_of(DmaOut{}) == QueueId::DmaOut);
    CHECK(queue_of(LoadWeights{}) == QueueId::Weights);
    CHECK(queue_of(Product{}) == QueueId::Matrix);
    CHECK(queue_of(RunChain{}) == QueueId::Vector);
    CHECK(queue_of(ReduceRows{}) == QueueId::Vector);
    CHECK(queue_of(ReduceLanes{}) == QueueId::CrossLane);
    CHECK(queue_of(Transpose{}) == QueueId::CrossLane);
    CHECK(queue_of(MoveLanes{}) == QueueId::CrossLane);
    CHECK(queue_of(Collective{}) == QueueId::Collective);
}

TEST_CASE("The mnemonic is the first word of an instruction's assembly", "[isa][encoding]") {
    RandomPrograms random(5);
    for (std::size_t kind = 0; kind < std::variant_size_v<Instruction>; ++kind) {
        const Instruction instruction = random.instruction(kind);
        const std::string text = to_string(instruction);
        CHECK(text.substr(0, text.find(' ')) == mnemonic(instruction));
    }
}
