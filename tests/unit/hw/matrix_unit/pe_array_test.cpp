#include "hw/matrix_unit/pe_array.h"

#include <algorithm>
#include <catch2/catch.hpp>
#include <cstdint>
#include <deque>
#include <random>
#include <vector>

using PeArray = systole::hw::PeArray<systole::hw::IntegerCells>;

namespace {

/// A tile and a stream, both by rows.
using Matrix = std::vector<std::vector<std::int16_t>>;

Matrix random_matrix(std::mt19937& random, std::size_t rows, std::size_t columns) {
    std::uniform_int_distribution<int> value(-128, 127);
    Matrix matrix(rows, std::vector<std::int16_t>(columns));
    for (auto& row : matrix) {
        for (auto& element : row) element = static_cast<std::int16_t>(value(random));
    }
    return matrix;
}

/// The expected sums of a row.
std::int32_t product(const Matrix& rows, std::size_t row, const Matrix& tile, std::size_t column) {
    std::int32_t sum = 0;
    for (std::size_t k = 0; k < tile.size(); ++k) sum += rows[row][k] * tile[k][column];
    return sum;
}

/// An array with accumulators, one row for each streamed row.
struct Bench {
    explicit Bench(const PeArray::Shape& its) : shape(its), array(its) {}

    /// A cycle in which a row of the stream, a word row of the tile, or both enter.
    bool cycle(const std::vector<std::int16_t>* row, PeArray::ArrayPass pass,
               const std::vector<std::int16_t>* words) {
        if (row != nullptr) {
            accumulators.emplace_back(shape.columns, untouched);
            pass.valid = true;
            pass.columns = shape.columns;
            pass.sums = accumulators.back().data();
            array.enter(*row, pass);
        }
        if (words != nullptr) array.shift_in(*words);
        const bool complete = array.step();
        ++now;
        return complete;
    }
    void shift(const Matrix& tile) {
        for (std::size_t r = tile.size(); r-- > 0;) cycle(nullptr, {}, &tile[r]);
    }

    static constexpr std::int32_t untouched = 0x5a5a5a5a;
    PeArray::Shape shape;
    PeArray array;
    std::deque<std::vector<std::int32_t>> accumulators;
    std::uint64_t now = 0;  ///< the next cycle
};

const PeArray::Shape shapes[] = {
    {.rows = 1, .columns = 1, .mac_latency = 1, .setup = 0, .write = 0},
    {.rows = 1, .columns = 5, .mac_latency = 2, .setup = 0, .write = 1},
    {.rows = 7, .columns = 1, .mac_latency = 1, .setup = 3, .write = 0},
    {.rows = 7, .columns = 5, .mac_latency = 3, .setup = 2, .write = 4},
    {.rows = 4, .columns = 9, .mac_latency = 5, .setup = 0, .write = 7},
    {.rows = 16, .columns = 16, .mac_latency = 1, .setup = 1, .write = 1},
    {.rows = 6, .columns = 4, .mac_latency = 1, .stage = 2, .setup = 0, .write = 0},
    {.rows = 6, .columns = 9, .mac_latency = 2, .stage = 3, .weight_switch = 0, .setup = 2, .write = 1},
    {.rows = 4, .columns = 8, .mac_latency = 5, .stage = 4, .setup = 1, .write = 3},
    {.rows = 8, .columns = 4, .mac_latency = 1, .stage = 2, .weight_switch = 0, .setup = 0, .write = 0},
    {.rows = 3, .columns = 5, .mac_latency = 2, .weight_switch = 0, .setup = 1, .write = 1},
};

/// From a row's entry to its sum of column 0, and of the last column: stages down, and across.
std::uint64_t to_column_0(const PeArray::Shape& shape) {
    return shape.setup + shape.rows / shape.stage * shape.mac_latency + shape.write;
}
std::uint64_t to_last_column(const PeArray::Shape& shape) {
    return to_column_0(shape) + shape.columns / shape.stage - 1;
}

}  // namespace

TEST_CASE("A row's last sum is written setup + R/g m + C/g - 1 + write cycles after it entered",
          "[pe_array]") {
    const PeArray::Shape shape = GENERATE(from_range(std::begin(shapes), std::end(shapes)));
    std::mt19937 random(11);
    Bench bench(shape);
    const Matrix tile = random_matrix(random, shape.rows, shape.columns);
    const Matrix rows = random_matrix(random, 1, shape.rows);
    bench.shift(tile);
    const std::uint64_t entered = bench.now;
    const std::uint64_t latency = to_last_column(shape);

    bool complete = bench.cycle(&rows[0], {.switches = true, .last = true}, nullptr);
    while (!complete) {
        // A stage of columns is written one cycle after the stage before, and not earlier.
        const std::uint64_t first = entered + to_column_0(shape);
        for (std::size_t c = 0; c < shape.columns; ++c) {
            const bool there = bench.now >= first + c / shape.stage;
            REQUIRE(bench.accumulators[0][c] == (there ? product(rows, 0, tile, c) : Bench::untouched));
        }
        REQUIRE(bench.now < entered + latency);
        complete = bench.cycle(nullptr, {}, nullptr);
    }
    CHECK(bench.now == entered + latency);
    CHECK(bench.accumulators[0][shape.columns - 1] == product(rows, 0, tile, shape.columns - 1));
}

TEST_CASE("A row's sum meets each of its column sums at the accumulators, in the cycle of the column sum",
          "[pe_array]") {
    const PeArray::Shape shape = GENERATE(from_range(std::begin(shapes), std::end(shapes)));
    std::mt19937 random(12);
    Bench bench(shape);
    const Matrix tile = random_matrix(random, shape.rows, shape.columns);
    // Rows with and without a zero point follow each other; some passes are shifted.
    constexpr std::int16_t zero_points[] = {0, 77, -128, 0, 0, 127, 3};
    const Matrix rows = random_matrix(random, std::size(zero_points), shape.rows);
    bench.shift(tile);
    const std::uint64_t entered = bench.now;
    const auto shift_of = [](std::size_t row) { return static_cast<std::uint8_t>(row % 2 * 8); };
    const auto expected = [&](std::size_t row, std::size_t column) {
        std::int32_t sum = product(rows, row, tile, column);
        for (const std::int16_t element : rows[row]) sum -= element * zero_points[row];
        return sum * (1 << shift_of(row));
    };
    const auto enter_or_wait = [&](std::size_t row) {
        if (row >= std::size(zero_points)) return bench.cycle(nullptr, {}, nullptr);
        return bench.cycle(&rows[row],
                           {.switches = row == 0,
                            .last = row + 1 == std::size(zero_points),
                            .cells = {.weight_zero_point = zero_points[row], .shift = shift_of(row)}},
                           nullptr);
    };
    bool complete = false;
    for (std::size_t cycle = 0; !complete; ++cycle) {
        complete = enter_or_wait(cycle);
        for (std::size_t row = 0; row < bench.accumulators.size(); ++row) {
            for (std::size_t c = 0; c < shape.columns; ++c) {
                const bool there = bench.now >= entered + row + to_column_0(shape) + c / shape.stage;
                REQUIRE(bench.accumulators[row][c] == (there ? expected(row, c) : Bench::untouched));
            }
        }
    }
    CHECK(bench.now == entered + std::size(zero_points) - 1 + to_last_column(shape));
}

TEST_CASE("The row-sum column holds the sums from array row 0 down, m cycles a row", "[pe_array]") {
    PeArray array({.rows = 3, .columns = 2, .mac_latency = 2, .setup = 1, .write = 0});
    array.enter(std::vector<std::int16_t>{5, -7, 100},
                {.valid = true, .cells = {.weight_zero_point = -3}, .columns = 2});
    // Each cell's sum, one cycle after its element has arrived: in array row r after 1 + 2 r cycles.
    const std::int32_t sums[] = {-3 * 5, -3 * (5 - 7), -3 * (5 - 7 + 100)};
    for (std::size_t cycle = 0; array.moving(); ++cycle) {
        array.step();
        for (std::size_t r = 0; r < 3; ++r) CHECK(array.row_sums()[r] == (cycle == 1 + 2 * r ? sums[r] : 0));
    }
}

TEST_CASE("A tile takes R cycles to shift in, not one less", "[pe_array]") {
    const PeArray::Shape shape = GENERATE(from_range(std::begin(shapes), std::end(shapes)));
    const auto missing = GENERATE(0U, 1U);
    std::mt19937 random(5);
    Bench bench(shape);
    Matrix tile = random_matrix(random, shape.rows, shape.columns);
    for (auto& row : tile) std::fill(row.begin(), row.end(), std::int16_t{1});
    std::vector<std::int16_t> ones(shape.rows, 1);
    for (std::size_t entered = 0; entered + missing < shape.rows; ++entered)
        bench.cycle(nullptr, {}, &tile[0]);
    bench.cycle(&ones, {.switches = true}, nullptr);
    while (bench.array.moving()) bench.cycle(nullptr, {}, nullptr);
    for (const std::int32_t sum : bench.accumulators[0]) CHECK(sum == std::int32_t(shape.rows - missing));
}

TEST_CASE("A tile that shifts in as early behind a switch as it may disturbs no row", "[pe_array]") {
    // Streams of any length follow each other as fast as shifts and rows allow; every row must meet the
    // weights of its own tile in every cell.
    const PeArray::Shape shape = GENERATE(from_range(std::begin(shapes), std::end(shapes)));
    const auto seed = GENERATE(1U, 2U, 3U, 4U);
    CAPTURE(seed);
    std::mt19937 random(seed);
    Bench bench(shape);
    constexpr std::size_t streams = 9;
    std::vector<Matrix> tiles, inputs;
    for (std::size_t i = 0; i < streams; ++i) {
        tiles.push_back(random_matrix(random, shape.rows, shape.columns));
        inputs.push_back(random_matrix(random, 1 + random() % (2 * shape.rows), shape.rows));
    }
    bench.shift(tiles[0]);
    std::size_t row = 0;   // of the stream at the input
    std::size_t word = 0;  // of the tile that shifts in
    for (std::size_t i = 0; i < streams;) {
        const bool enters = row < inputs[i].size();
        const bool shifts = enters || word < shape.rows;
        const bool may_shift = row >= shape.weight_switch;
        const std::vector<std::int16_t>* words = nullptr;
        if (shifts && may_shift && i + 1 < streams && word < shape.rows) {
            words = &tiles[i + 1][shape.rows - 1 - word++];
        }
        const std::vector<std::int16_t>* elements = enters ? &inputs[i][row] : nullptr;
        bench.cycle(elements, {.switches = row == 0}, words);
        ++row;
        if (row >= inputs[i].size() && (word == shape.rows || i + 1 == streams)) {
            ++i;
            row = word = 0;
        }
    }
    while (bench.array.moving()) bench.cycle(nullptr, {}, nullptr);
    std::size_t accumulator = 0;
    for (std::size_t i = 0; i < streams; ++i) {
        for (std::size_t r = 0; r < inputs[i].size(); ++r, ++accumulator) {
            for (std::size_t c = 0; c < shape.columns; ++c) {
                REQUIRE(bench.accumulators[accumulator][c] == product(inputs[i], r, tiles[i], c));
            }
        }
    }
}

TEST_CASE("A tile that shifts in one cycle earlier than it may spoils the tile before", "[pe_array]") {
    // The other side of the bound: the shadow plane is free `weight_switch` cycles after the switch.
    const auto weight_switch = GENERATE(std::size_t{0}, std::size_t{1});
    PeArray::Shape shape{.rows = 3, .columns = 2, .weight_switch = weight_switch};
    Bench bench(shape);
    const Matrix ones(3, std::vector<std::int16_t>(2, 1));
    const Matrix tens(3, std::vector<std::int16_t>(2, 10));
    const std::vector<std::int16_t> row(3, 1);
    bench.shift(ones);
    if (weight_switch == 0) bench.cycle(nullptr, {}, &tens[2]);
    bench.cycle(&row, {.switches = true}, weight_switch == 0 ? nullptr : &tens[2]);
    while (bench.array.moving()) bench.cycle(nullptr, {}, nullptr);
    CHECK(bench.accumulators[0][0] != 3);
}

TEST_CASE("Sums wrap around at the accumulators' bits, in every pass and addition", "[pe_array]") {
    const auto sum_bits = GENERATE(8U, 20U, 31U, 32U);
    CAPTURE(sum_bits);
    std::mt19937 random(sum_bits);
    Bench bench({.rows = 7, .columns = 5, .sum_bits = sum_bits});
    const Matrix tile = random_matrix(random, 7, 5);
    const Matrix rows = random_matrix(random, 9, 7);
    bench.shift(tile);
    // All rows add to one row of accumulators, some shifted, so that sums of 31 bits overflow too.
    const auto shift_of = [](std::size_t row) { return static_cast<std::uint8_t>(row % 3 * 8); };
    std::vector<std::int32_t> sums(5, Bench::untouched);
    for (std::size_t row = 0; row < rows.size(); ++row) {
        bench.array.enter(rows[row], {.valid = true,
                                      .switches = row == 0,
                                      .add = row > 0,
                                      .cells = {.weight_zero_point = static_cast<std::int16_t>(row),
                                                .shift = shift_of(row)},
                                      .columns = 5,
                                      .sums = sums.data()});
        bench.array.step();
    }
    while (bench.array.moving()) bench.array.step();
    for (std::size_t c = 0; c < 5; ++c) {
        std::int64_t exact = 0;
        for (std::size_t row = 0; row < rows.size(); ++row) {
            std::int64_t sum = product(rows, row, tile, c);
            for (const std::int16_t element : rows[row]) sum -= element * static_cast<std::int64_t>(row);
            exact += sum * (std::int64_t{1} << shift_of(row));
        }
        const std::int64_t modulus = std::int64_t{1} << sum_bits;
        std::int64_t wrapped = (exact % modulus + modulus) % modulus;
        if (wrapped >= modulus / 2) wrapped -= modulus;
        CHECK(sums[c] == wrapped);
    }
}

TEST_CASE("An array in which nothing moves does not change", "[pe_array]") {
    const PeArray::Shape shape = GENERATE(from_range(std::begin(shapes), std::end(shapes)));
    std::mt19937 random(3);
    Bench bench(shape);
    bench.shift(random_matrix(random, shape.rows, shape.columns));
    const Matrix rows = random_matrix(random, 2, shape.rows);
    bench.cycle(&rows[0], {.switches = true}, nullptr);
    bench.cycle(&rows[1], {}, nullptr);
    while (bench.array.moving()) bench.cycle(nullptr, {}, nullptr);
    const auto registers = [&] {
        std::vector<std::int64_t> all;
        for (const auto span :
             {bench.array.activations(), bench.array.weights(), bench.array.shadow_weights()}) {
            all.insert(all.end(), span.begin(), span.end());
        }
        all.insert(all.end(), bench.array.partial_sums().begin(), bench.array.partial_sums().end());
        return all;
    };
    const auto before = registers();
    for (std::size_t i = 0; i < 2 * shape.mac_latency + 1; ++i) {
        CHECK_FALSE(bench.cycle(nullptr, {}, nullptr));
        CHECK(registers() == before);
    }
    CHECK(std::all_of(bench.array.activations().begin(), bench.array.activations().end(),
                      [](std::int16_t activation) { return activation == 0; }));
}
