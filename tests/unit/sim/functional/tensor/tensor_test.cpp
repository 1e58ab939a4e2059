// What programs for a tensor core mean: docs/isa.md, "Machines with a tensor core".
#include <algorithm>
#include <bit>
#include <catch2/catch.hpp>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <random>
#include <string>
#include <vector>

#include "hw/isa/assembly.h"
#include "hw/isa/program_error.h"
#include "hw/math/floats/float_values.h"
#include "sim/functional/executor.h"
#include "sim/functional/tensor/tensor_executor.h"
#include "tests/support/floats.h"

namespace {

using namespace systole;
using namespace systole::tests;

using Numbers = std::vector<float>;

/// A program with the buffers `in` and `out`, of 400 words each. An array of 4 x 4 and 4 lanes.
const std::string core_declarations =
    ".tensor_core 4 4 lanes=4\n.buffer in input 0 1600\n.buffer out output 1600 1600\n";

/// The words in `out` after a program whose `in` begins with these words.
std::vector<std::uint32_t> output_words(const std::string& text, const std::vector<std::uint32_t>& inputs) {
    const isa::Program program = isa::assemble(core_declarations + text + "\nhalt", "test");
    functional::TensorExecutor executor(program, {.vector_rows = 256, .hbm_rows = 512});
    const auto in = executor.host_bytes(program.buffers[0]);
    if (!inputs.empty()) std::memcpy(in.data(), inputs.data(), inputs.size() * sizeof(float));
    executor.run();
    std::vector<std::uint32_t> out(400);
    std::memcpy(out.data(), executor.host_bytes(program.buffers[1]).data(), out.size() * sizeof(float));
    return out;
}

/// The same of numbers.
Numbers outputs(const std::string& text, const Numbers& inputs) {
    std::vector<std::uint32_t> words(inputs.size());
    std::ranges::transform(inputs, words.begin(), bits_of);
    const std::vector<std::uint32_t> out = output_words(text, words);
    Numbers numbers(out.size());
    std::ranges::transform(out, numbers.begin(),
                           [](std::uint32_t word) { return std::bit_cast<float>(word); });
    return numbers;
}

Numbers first(Numbers numbers, std::size_t count) {
    numbers.resize(count);
    return numbers;
}

Numbers counted(std::size_t count) {
    Numbers numbers(count);
    for (std::size_t i = 0; i < count; ++i) numbers[i] = static_cast<float>(i + 1);
    return numbers;
}

TEST_CASE("A matrix goes to the chip in panels and back") {
    // 3 x 6 words: panels of 4 and 2 columns.
    CHECK(first(outputs(R"(
        infeed in hbm=10 rows=3 columns=6
        dma_in hbm=10 at=0 rows=3 blocks=2
        dma_out hbm=100 at=0 rows=6
        outfeed out hbm=100 rows=3 columns=6)",
                        counted(18)),
                18) == counted(18));
    // Panels 8 rows apart on the way in, 5 rows apart on the way out.
    CHECK(first(outputs(R"(
        set result.panel_rows 8
        infeed in hbm=10 rows=3 columns=6
        set dma.hbm_rows 8; set dma.memory_rows 4
        dma_in hbm=10 at=0 rows=3 blocks=2
        set dma.hbm_rows 5
        dma_out hbm=100 at=0 rows=3 blocks=2
        set source.panel_rows 5
        outfeed out hbm=100 rows=3 columns=6)",
                        counted(18)),
                18) == counted(18));
}

/// A table of 3 x 6 words in two panels, and a row of indices behind it.
std::string gathered(const std::string& gather) {
    return "infeed in hbm=10 rows=3 columns=6\ninfeed in+72 hbm=30 rows=1 columns=4\n" + gather +
           "\ndma_out hbm=100 at=0 rows=8\noutfeed out hbm=100 rows=4 columns=6\n";
}
Numbers table_and_indices(std::initializer_list<std::uint32_t> indices) {
    Numbers numbers = counted(18);
    for (const std::uint32_t index : indices) numbers.push_back(std::bit_cast<float>(index));
    return numbers;
}

TEST_CASE("Rows of a table come to vector memory by their indices, panel by panel") {
    CHECK(first(outputs(gathered("gather_rows hbm=10 table=3 indices=30 at=0 rows=4 blocks=2"),
                        table_and_indices({2, 0, 2, 1})),
                24) ==
          Numbers{13, 14, 15, 16, 17, 18, 1, 2, 3, 4, 5, 6, 13, 14, 15, 16, 17, 18, 7, 8, 9, 10, 11, 12});
    // Indices behind the last row are not read.
    CHECK(first(outputs(gathered("set dma.memory_rows 4\n"
                                 "gather_rows hbm=10 table=3 indices=30 at=0 rows=2 blocks=2"),
                        table_and_indices({1, 0, 3, 3})),
                12) == Numbers{7, 8, 9, 10, 11, 12, 1, 2, 3, 4, 5, 6});
}

TEST_CASE("An index of no row of the table is an error") {
    const auto message = [](std::initializer_list<std::uint32_t> indices) -> std::string {
        try {
            outputs(gathered("gather_rows hbm=10 table=3 indices=30 at=0 rows=2"),
                    table_and_indices(indices));
        } catch (const isa::ProgramError& error) {
            return error.what();
        }
        return "no error";
    };
    CHECK_THAT(message({0, 3}), Catch::Matchers::EndsWith("index 1 is 3; the table has rows 0 to 2"));
    CHECK_THAT(message({0xFFFFFFFF, 0}),
               Catch::Matchers::EndsWith("index 0 is -1; the table has rows 0 to 2"));
}

TEST_CASE("Lanes behind the last column become zeros on the way in") {
    const Numbers out = outputs(R"(
        infeed in hbm=0 rows=1 columns=4
        infeed in hbm=0 rows=1 columns=2
        outfeed out hbm=0 rows=1 columns=4)",
                                counted(4));
    CHECK(first(out, 4) == Numbers{1, 2, 0, 0});
}

/// Loads the first 24 words as a matrix of 3 x 4 at row 0 and one of 4 x 3 at row 10.
const std::string two_matrices = R"(
    infeed in hbm=0 rows=3 columns=4
    infeed in+48 hbm=10 rows=4 columns=3
    dma_in hbm=0 at=0 rows=3
    dma_in hbm=10 at=10 rows=4
)";
const std::string write_result = R"(
    dma_out hbm=100 at=100 rows=3
    outfeed out hbm=100 rows=3 columns=3
)";

Numbers product_of(const Numbers& a, const Numbers& b) {
    Numbers c(9);
    for (std::size_t i = 0; i < 3; ++i) {
        for (std::size_t j = 0; j < 3; ++j) {
            float sum = 0.0F;
            for (std::size_t k = 0; k < 4; ++k) {
                sum = std::fma(math::rounded_to_bfloat16(a[i * 4 + k]),
                               math::rounded_to_bfloat16(b[k * 3 + j]), sum);
            }
            c[i * 3 + j] = sum;
        }
    }
    return c;
}

TEST_CASE("A product is a row's sum over the weights' columns") {
    std::mt19937 random(1);
    std::uniform_real_distribution<float> draw(-1.0F, 1.0F);
    Numbers in(24);
    for (float& x : in) x = draw(random);
    const Numbers expected = product_of(in, Numbers(in.begin() + 12, in.end()));
    CHECK(first(outputs(two_matrices +
                            "load_weights src=10 depth=4 columns=3\n"
                            "product dst=100 src=0 rows=3 depth=4 columns=3" +
                            write_result,
                        in),
                9) == expected);
    // The same weights, transposed by the unit between lanes, and again on their way into the array.
    CHECK(first(outputs(two_matrices +
                            "transpose dst=20 src=10 rows=4 columns=3\n"
                            "load_weights src=20 depth=4 columns=3 transposed\n"
                            "product dst=100 src=0 rows=3 depth=4 columns=3" +
                            write_result,
                        in),
                9) == expected);
    // Twice, with the weights that are there.
    Numbers twice = expected;
    for (float& x : twice) x += x;
    CHECK(first(outputs(two_matrices +
                            "load_weights src=10 depth=4 columns=3\n"
                            "product dst=100 src=0 rows=3 depth=4 columns=3\n"
                            "product dst=100 src=0 rows=3 depth=4 columns=3 keep accumulate" +
                            write_result,
                        in),
                9) == twice);
}

TEST_CASE("Two halves of a product's depth are added once more") {
    Numbers in(24);
    std::mt19937 random(2);
    std::uniform_real_distribution<float> draw(-1.0F, 1.0F);
    for (float& x : in) x = math::rounded_to_bfloat16(draw(random));
    const Numbers out = outputs(two_matrices + R"(
        load_weights src=10 depth=2 columns=3
        load_weights src=12 depth=2 columns=3
        product dst=100 src=0 rows=3 depth=2 columns=3
        set product.first 2
        product dst=100 src=0 rows=3 depth=2 columns=3 accumulate)" +
                                    write_result,
                                in);
    for (std::size_t i = 0; i < 3; ++i) {
        for (std::size_t j = 0; j < 3; ++j) {
            const auto half = [&](std::size_t k) {
                return std::fma(in[i * 4 + k + 1], in[12 + (k + 1) * 3 + j],
                                in[i * 4 + k] * in[12 + k * 3 + j]);
            };
            CHECK(out[i * 3 + j] == half(0) + half(2));
        }
    }
}

TEST_CASE("Windows of an image are streamed tap by tap, and nothing is around it") {
    // An image of 3 x 3 pixels with one channel; 2 x 2 windows of ones, padded above and at the left.
    const Numbers out = outputs(R"(
        infeed in hbm=0 rows=9 columns=1
        infeed in+36 hbm=20 rows=4 columns=1
        dma_in hbm=0 at=0 rows=9
        dma_in hbm=20 at=20 rows=4
        load_weights src=20 depth=4 columns=1
        set window.input_height 3; set window.input_width 3; set window.channels 1; set window.image_rows 9
        set window.kernel_height 2; set window.kernel_width 2; set window.pad_top 1; set window.pad_left 1
        set window.output_height 3; set window.output_width 3
        product dst=100 src=0 rows=9 depth=4 columns=1 windows
        dma_out hbm=100 at=100 rows=9
        outfeed out hbm=100 rows=9 columns=1)",
                                {1, 2, 3, 4, 5, 6, 7, 8, 9, 1, 10, 100, 1000});
    CHECK(first(out, 9) == Numbers{1000, 2100, 3200, 4010, 5421, 6532, 7040, 8754, 9865});
}

TEST_CASE("Packed rows are bfloat16, two in one") {
    const std::string chains = R"(
        .chain pack
        .source rows
        .result 0 packed
        .chain unpack
        .source rows packed
        .result 0
        infeed in hbm=0 rows=3 columns=2
        dma_in hbm=0 at=0 rows=3
        chain 0 rows=3 columns=2 dst=10 a=0
    )";
    const float fine = 1.0F + 0x1p-9F;  // bfloat16 has 7 bits behind the point
    CHECK(first(outputs(chains + R"(
        chain 1 rows=3 columns=2 dst=20 a=10
        dma_out hbm=10 at=20 rows=3
        outfeed out hbm=10 rows=3 columns=2)",
                        {1, fine, 2, -3, 5, 6}),
                6) == Numbers{1, 1, 2, -3, 5, 6});
    const Numbers words = outputs(chains + R"(
        dma_out hbm=10 at=10 rows=2
        outfeed out hbm=10 rows=2 columns=1)",
                                  {1, fine, 2, -3, 5, 6});
    CHECK(bits_of(words[0]) == 0x40003F80);  // 1 below, 2 above
    CHECK(bits_of(words[1]) == 0x000040A0);  // 5 below, nothing above
    // As weights and as rows of a product.
    CHECK(first(outputs(chains + R"(
        load_weights src=10 depth=2 columns=2 packed
        product dst=20 src=10 rows=3 depth=2 columns=2 packed
        dma_out hbm=10 at=20 rows=3
        outfeed out hbm=10 rows=3 columns=2)",
                        {1, 2, 3, 4, 5, 6}),
                6) == Numbers{7, 10, 15, 22, 23, 34});
}

TEST_CASE("Softmax is a chain between two reductions") {
    const Numbers out = outputs(R"(
        .chain exponentials
        .source rows
        .source column
        .step subtract 0 1
        .step exp 2
        .result 3
        .chain shares
        .source rows
        .source column
        .step divide 0 1
        .result 2
        infeed in hbm=0 rows=2 columns=6
        dma_in hbm=0 at=0 rows=4
        reduce_lanes maximum dst=10 src=0 rows=2 columns=6
        chain 0 rows=2 columns=6 dst=0 a=0 b=10
        reduce_lanes sum dst=10 src=0 rows=2 columns=6
        chain 1 rows=2 columns=6 dst=0 a=0 b=10
        dma_out hbm=0 at=0 rows=4
        outfeed out hbm=0 rows=2 columns=6)",
                                {1, 2, 3, 4, 5, 6, -1, -1, -1, -1, -1, -1});
    double sum = 0.0;
    for (std::size_t i = 0; i < 6; ++i) sum += std::exp(static_cast<double>(i));
    for (std::size_t i = 0; i < 6; ++i) {
        CHECK(out[i] == Approx(std::exp(static_cast<double>(i)) / sum).epsilon(1e-6));
        CHECK(out[6 + i] == 1.0F / 6.0F);
    }
}

TEST_CASE("A tap of windows is added to what the result had") {
    // Of an image of 3 x 3 pixels, what lies right and below is added, where there is some.
    CHECK(first(outputs(R"(
        .chain tap
        .source rows
        .source result
        .step add 0 1
        .result 2
        infeed in hbm=0 rows=9 columns=1
        dma_in hbm=0 at=0 rows=9
        dma_in hbm=0 at=20 rows=9
        set walk.columns 2; set walk.lines 2
        set from.line_rows 3; set to.line_rows 3
        chain 0 rows=4 columns=1 dst=20 a=4
        dma_out hbm=0 at=20 rows=9
        outfeed out hbm=0 rows=9 columns=1)",
                        counted(9)),
                9) == Numbers{1 + 5, 2 + 6, 3, 4 + 8, 5 + 9, 6, 7, 8, 9});
}

TEST_CASE("Columns move to other lanes, and leave those beside them as they are") {
    // 2 rows of 6 columns, of which 1 to 5 go to columns 3 to 7 of rows that had 8.
    CHECK(first(outputs(R"(
        infeed in hbm=0 rows=2 columns=6
        infeed in hbm=10 rows=2 columns=8
        dma_in hbm=0 at=0 rows=4
        dma_in hbm=10 at=10 rows=4
        move_lanes dst=10 src=0 rows=2 columns=5 first=1 to=3
        dma_out hbm=0 at=10 rows=4
        outfeed out hbm=0 rows=2 columns=8)",
                        {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16}),
                16) == Numbers{1, 2, 3, 2, 3, 4, 5, 6, 9, 10, 11, 8, 9, 10, 11, 12});
}

TEST_CASE("High-bandwidth memory begins with what the program says") {
    CHECK(first(outputs(R"(
        .hbm 5 20
          .uint32 0x3f800000 0x40000000 0x40400000 0x40800000 0x40a00000
        outfeed out hbm=5 rows=2 columns=4)",
                        {}),
                8) == Numbers{1, 2, 3, 4, 5, 0, 0, 0});
    const isa::Program program = isa::assemble(".tensor_core 4 4 lanes=4\n.hbm 15 20 fill 1\nhalt", "t");
    CHECK_THROWS_WITH(
        functional::TensorExecutor(program, {.vector_rows = 8, .hbm_rows = 16}),
        "high-bandwidth-memory rows 15 to 16 of the program's first values; the machine has 16");
}

TEST_CASE("Rows are reduced in blocks of as many as there are lanes") {
    // 6 rows of 2 columns: a block of 4, and one of 2, behind what is there.
    const Numbers in{1, 8, 2, 7, 3, 6, 4, 5, 5, 4, 6, 3, 100, 200};
    const std::string load = R"(
        infeed in hbm=0 rows=7 columns=2
        dma_in hbm=0 at=0 rows=7
    )";
    const std::string store = R"(
        dma_out hbm=0 at=6 rows=1
        outfeed out hbm=0 rows=1 columns=2)";
    CHECK(first(outputs(load + "reduce_rows sum dst=6 src=0 rows=6 columns=2" + store, in), 2) ==
          Numbers{21, 33});
    CHECK(first(outputs(load + "reduce_rows sum dst=6 src=0 rows=6 columns=2 accumulate" + store, in), 2) ==
          Numbers{121, 233});
    CHECK(first(outputs(load + "reduce_rows product dst=6 src=0 rows=6 columns=2" + store, in), 2) ==
          Numbers{720, 20160});
    CHECK(first(outputs(load + "reduce_rows minimum dst=6 src=0 rows=6 columns=2" + store, in), 2) ==
          Numbers{1, 3});
    // Where the order shows: (2^24 + 1) + (1 + 1), with halves 2^24 + 1 and 1 + 1 first.
    CHECK(outputs(R"(
        infeed in hbm=0 rows=4 columns=1
        dma_in hbm=0 at=0 rows=4
        reduce_rows sum dst=6 src=0 rows=4 columns=1
        dma_out hbm=0 at=6 rows=1
        outfeed out hbm=0 rows=1 columns=1)",
                  {0x1p24F, 1, 1, 1})[0] == 0x1p24F + 2.0F);
}

TEST_CASE("Whole numbers are reduced as they are, whatever floats they would be") {
    // NaN with a message, signalling, and subnormal as floats, and numbers of both signs.
    const std::vector<std::uint32_t> words{0x7FC00001, 0xFF812345, 0x00000001,
                                           0x807FFFFF, 0x00000007, 0xFFFFFFFD};
    std::vector<std::uint32_t> expected{0, 1, 0x80000000, 0x7FFFFFFF, 0, 0xFFFFFFFF, 0xFFFFFFFF, 0, 0};
    for (const std::uint32_t word : words) {
        const auto number = static_cast<std::int32_t>(word);
        expected[0] += word;
        expected[1] *= word;
        if (number > static_cast<std::int32_t>(expected[2])) expected[2] = word;
        if (number < static_cast<std::int32_t>(expected[3])) expected[3] = word;
        expected[4] = std::max(expected[4], word);
        expected[5] = std::min(expected[5], word);
        expected[6] &= word;
        expected[7] |= word;
        expected[8] ^= word;
    }
    for (std::size_t i = 0; i < expected.size(); ++i) {
        const std::string reduction(reduction_names.at(4 + i));
        INFO(reduction);
        const std::string store = "\ndma_out hbm=20 at=20 rows=1\noutfeed out hbm=20 rows=1 columns=4";
        CHECK(output_words("infeed in hbm=0 rows=6 columns=1\ndma_in hbm=0 at=0 rows=6\nreduce_rows " +
                               reduction + " dst=20 src=0 rows=6 columns=1" + store,
                           words)[0] == expected[i]);
        CHECK(output_words("infeed in hbm=0 rows=1 columns=6\ndma_in hbm=0 at=0 rows=2\nreduce_lanes " +
                               reduction + " dst=20 src=0 rows=1 columns=6" + store,
                           words)[3] == expected[i]);
    }
}

TEST_CASE("Columns that move and numbers alone keep their bits") {
    const std::vector<std::uint32_t> words{0x7FC00001, 0xFF812345, 0x00000001, 0x807FFFFF};
    const std::vector<std::uint32_t> moved = output_words(R"(
        infeed in hbm=0 rows=1 columns=4
        dma_in hbm=0 at=0 rows=1
        move_lanes dst=8 src=0 rows=1 columns=4 to=2
        reduce_lanes maximum dst=10 src=0 rows=1 columns=1
        reduce_rows sum dst=11 src=0 rows=1 columns=4
        dma_out hbm=20 at=8 rows=4
        outfeed out hbm=20 rows=4 columns=4)",
                                                          words);
    CHECK(std::vector(moved.begin() + 2, moved.begin() + 6) == words);
    CHECK(std::vector(moved.begin() + 8, moved.begin() + 12) == std::vector<std::uint32_t>(4, words[0]));
    CHECK(std::vector(moved.begin() + 12, moved.begin() + 16) == words);
}

TEST_CASE("Rows of a chain may lie apart") {
    // The largest of 2 x 2 pixels, of an image of 4 x 4.
    CHECK(first(outputs(R"(
        .chain copy
        .source rows
        .result 0
        .chain larger
        .source rows
        .source rows
        .step maximum 0 1
        .result 2
        infeed in hbm=0 rows=16 columns=1
        dma_in hbm=0 at=0 rows=16
        set walk.lines 2; set walk.columns 2
        set from.line_rows 8; set from.column_rows 2; set to.line_rows 2
        chain 0 rows=4 columns=1 dst=20 a=0
        chain 1 rows=4 columns=1 dst=20 a=1 b=20
        chain 1 rows=4 columns=1 dst=20 a=4 b=20
        chain 1 rows=4 columns=1 dst=20 a=5 b=20
        dma_out hbm=0 at=20 rows=4
        outfeed out hbm=0 rows=4 columns=1)",
                        {1, 2, 3, 4, 8, 7, 6, 5, 9, 10, 16, 12, 13, 14, 15, 11}),
                4) == Numbers{8, 6, 14, 16});
}

TEST_CASE("A row and its column are numbers of a chain") {
    const Numbers out = outputs(R"(
        .chain places
        .step row
        .step column
        .step constant 10
        .step multiply_int 0 2
        .step add_int 3 1
        .step int_to_float 4
        .result 5
        .result 1
        chain 0 rows=2 columns=6 dst=0 dst2=10
        dma_out hbm=0 at=0 rows=4
        outfeed out hbm=0 rows=2 columns=6)",
                                {});
    CHECK(first(out, 12) == Numbers{0, 1, 2, 3, 4, 5, 10, 11, 12, 13, 14, 15});
}

void check_wrong(const std::string& text, const std::string& message) {
    CHECK_THROWS_WITH(outputs(text, {}), Catch::Matchers::EndsWith(message));
}

TEST_CASE("Products that meet other weights than they name are errors") {
    check_wrong("product dst=100 src=0 rows=1 depth=1 columns=1", "no weights are loaded for it");
    check_wrong("product dst=100 src=0 rows=1 depth=1 columns=1 keep",
                "it keeps the weights in the array, where there are none yet");
    check_wrong("load_weights src=0 depth=2 columns=3\nproduct dst=100 src=0 rows=1 depth=3 columns=2",
                "the weights that it meets are 2 x 3; it must have their depth and columns");
}

TEST_CASE("Rows lie inside the memories of a tensor core") {
    check_wrong("dma_in hbm=0 at=255 rows=2", "vector-memory rows 255 to 256; the machine has 256");
    check_wrong("dma_out hbm=511 at=0 rows=2", "high-bandwidth-memory rows 511 to 512; the machine has 512");
    check_wrong(".chain c\n.source rows\n.result 0\nchain 0 rows=2 columns=1 dst=255 a=0",
                "vector-memory rows 255 to 256; the machine has 256");
    CHECK_THROWS_WITH(outputs("infeed in+1598 hbm=0 rows=1 columns=1", {}),
                      Catch::Matchers::Contains("host"));
    check_wrong(".input x shape=8\n.resident input 0 2 1 hbm=511 columns=4",
                "input 0 stays in memory up to high-bandwidth-memory row 512; the machine has 512");
}

TEST_CASE("A program for a tensor core is for no other machine") {
    const isa::Program program = isa::assemble(core_declarations + "halt", "test");
    CHECK_THROWS_WITH(functional::Executor(program, machine::MachineConfig{}),
                      "the program is for a tensor core; the machine has a unified buffer");
    const isa::Program array = isa::assemble("halt", "test");
    CHECK_THROWS_WITH(functional::TensorExecutor(array, {.vector_rows = 1, .hbm_rows = 1}),
                      "the program is not for a tensor core, which the machine has");
}

}  // namespace
