#include "hw/isa/image_slices.h"

#include <catch2/catch.hpp>
#include <random>
#include <set>
#include <string>

#include "hw/isa/program_error.h"
#include "tests/support/random_runs.h"

using namespace systole::isa;
using Catch::Matchers::Message;
using systole::DataType;

namespace {

constexpr Geometry square_256{};

Registers slices(std::uint32_t rows_per_image, std::uint32_t destination, std::uint32_t source,
                 std::uint32_t other) {
    Registers registers;
    registers.set(Register::VectorRowsPerImage, rows_per_image);
    registers.set(Register::VectorDestinationImageRows, destination);
    registers.set(Register::VectorSourceImageRows, source);
    registers.set(Register::VectorOtherImageRows, other);
    return registers;
}

/// The rows, one by one.
std::vector<std::uint64_t> rows_of(const ImageSlices& slices) {
    std::vector<std::uint64_t> rows;
    for (std::uint64_t image = 0; image < slices.images(); ++image) {
        const RowRange range = slices.of_image(image);
        for (std::uint64_t row = range.first; row < range.last; ++row) rows.push_back(row);
    }
    return rows;
}

}  // namespace

TEST_CASE("Rows of a part of each image", "[isa][image_slices]") {
    const Registers registers = slices(2, 0, 5, 0);
    CHECK(rows_of(image_slices(registers, Register::VectorSourceImageRows, 10, 5)) ==
          std::vector<std::uint64_t>{10, 11, 15, 16, 20});
    CHECK(image_slices(registers, Register::VectorSourceImageRows, 10, 5).range() == RowRange{10, 21});
    // Of one image, the next one does not matter; without rows per image, all are of one.
    CHECK(rows_of(image_slices(registers, Register::VectorOtherImageRows, 7, 2)) ==
          std::vector<std::uint64_t>{7, 8});
    CHECK(rows_of(image_slices(slices(0, 9, 9, 9), Register::VectorSourceImageRows, 7, 3)) ==
          std::vector<std::uint64_t>{7, 8, 9});
}

TEST_CASE("Element-wise work touches from the first image's rows to the last's", "[isa][image_slices]") {
    const Vector vector{.operation = VectorOperation::Multiply,
                        .destination_row = 1000,
                        .source_row = 100,
                        .other_row = 500,
                        .length = 9,
                        .elements = DataType::Int16};
    const Footprint touched = footprint(vector, slices(3, 3, 10, 20), square_256);
    CHECK(touched.written_rows(MemoryId::UnifiedBuffer) == RowRange{1000, 1009});
    CHECK(touched.read_rows(MemoryId::UnifiedBuffer) == RowRange{100, 123});
    CHECK(touched.read_rows(MemoryId::UnifiedBuffer, 1) == RowRange{500, 543});
    Vector lookup{.operation = VectorOperation::Lookup, .destination_row = 10, .source_row = 10, .length = 1};
    CHECK(footprint(lookup, Registers(), square_256).read_rows(MemoryId::UnifiedBuffer, 1) == RowRange{0, 1});
    lookup.elements = DataType::Int16;
    CHECK(footprint(lookup, Registers(), square_256).read_rows(MemoryId::UnifiedBuffer, 1) ==
          RowRange{0, 5});  // 1026 bytes
    CHECK(
        footprint(lookup, Registers(), {.rows = 1026, .columns = 1}).read_rows(MemoryId::UnifiedBuffer, 1) ==
        RowRange{0, 1});
}

TEST_CASE("Images that overlap are an error that names the register", "[isa][image_slices]") {
    const Vector vector{.destination_row = 1000, .source_row = 100, .other_row = 500, .length = 6};
    const auto rule = [&](const Registers& registers) -> std::string {
        try {
            footprint(vector, registers, square_256);
        } catch (const ProgramError& error) {
            const std::string message = error.what();
            return message.substr(message.find(": ") + 2);
        }
        return "none";
    };
    CHECK(rule(slices(3, 3, 3, 3)) == "none");
    CHECK(rule(slices(3, 3, 2, 3)) ==
          "vector.source_image_rows is 2; it must be at least vector.rows_per_image, which is 3");
    CHECK(rule(slices(3, 0, 3, 3)) ==
          "vector.destination_image_rows is 0; it must be at least vector.rows_per_image, which is 3");
    CHECK(rule(slices(3, 3, 3, 1)) ==
          "vector.other_image_rows is 1; it must be at least vector.rows_per_image, which is 3");
    CHECK(rule(slices(6, 0, 0, 0)) == "none");  // one image
}

TEST_CASE("Results may lie between an operand's rows, or in their place, row for row",
          "[isa][image_slices]") {
    for (std::uint32_t seed = 0; seed < systole::tests::random_runs(4000); ++seed) {
        std::mt19937 random(seed);
        const auto from = [&](std::uint32_t low, std::uint32_t high) {
            return low + static_cast<std::uint32_t>(random() % (high - low + 1));
        };
        const std::uint32_t rows_per_image = from(0, 4);
        const Registers registers = slices(rows_per_image, rows_per_image + from(0, 3),
                                           rows_per_image + from(0, 3), rows_per_image + from(0, 3));
        const Vector vector{.destination_row = from(0, 30),
                            .source_row = from(0, 30),
                            .other_row = from(0, 30),
                            .length = from(1, 12)};
        const auto rows = [&](Register reg, std::uint32_t first) {
            return rows_of(image_slices(registers, reg, first, vector.length));
        };
        const auto written = rows(Register::VectorDestinationImageRows, vector.destination_row);
        const std::set<std::uint64_t> written_rows(written.begin(), written.end());
        bool allowed = true;
        for (const auto& read : {rows(Register::VectorSourceImageRows, vector.source_row),
                                 rows(Register::VectorOtherImageRows, vector.other_row)}) {
            bool shares = false;
            for (const std::uint64_t row : read) shares |= written_rows.contains(row);
            allowed &= !shares || read == written;
        }
        CAPTURE(seed);
        if (allowed) {
            REQUIRE_NOTHROW(footprint(vector, registers, square_256));
        } else {
            REQUIRE_THROWS_AS(footprint(vector, registers, square_256), ProgramError);
        }
    }
}

TEST_CASE("Rows beyond the address range are an error", "[isa][image_slices]") {
    const Vector vector{.destination_row = 2000, .source_row = 100, .other_row = 100, .length = 1000};
    CHECK_THROWS_AS(footprint(vector, slices(1, 1, 0xffffffff, 1), square_256), ProgramError);
    CHECK_THROWS_AS(footprint(vector, slices(1, 1, 1U << 15U, 1), square_256), ProgramError);
    CHECK_NOTHROW(footprint(vector, slices(1, 1, 1U << 13U, 1U << 13U), square_256));
}
