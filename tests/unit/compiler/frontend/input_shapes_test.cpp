// The sizes that a file leaves open of its inputs, as readers of all formats close them.
#include "compiler/frontend/input_shapes.h"

#include <catch2/catch.hpp>
#include <cstdint>
#include <optional>
#include <vector>

namespace systole::frontend {
namespace {

using Extents = std::vector<std::optional<std::uint32_t>>;
constexpr auto open = std::nullopt;

TEST_CASE("Data close the sizes that nobody gives, if they fit the file", "[compiler][frontend]") {
    const InputShapes data{.of_data = {{"x", {1, 5, 3}}}};
    CHECK(known_shape(data, "x", Extents{open, open, 3}) == ir::Shape{1, 5, 3});
    CHECK(known_shape(data, "x", Extents{open, open, open}) == ir::Shape{1, 5, 3});
    // The file's own batch is no size of the data.
    CHECK(known_shape(data, "x", Extents{4, open, 3}) == ir::Shape{4, 5, 3});
    CHECK(known_shape(data, "x", Extents{open, 5, 3}) == std::nullopt);  // nothing but the batch is open
    CHECK(known_shape(data, "x", Extents{open, open, 2}) == std::nullopt);
    CHECK(known_shape(data, "x", Extents{open, open}) == std::nullopt);
    CHECK(known_shape(data, "x", Extents{}) == std::nullopt);
    CHECK(known_shape(data, "y", Extents{open, open, 3}) == std::nullopt);
    CHECK(known_shape({.of_data = {{"", {1, 5, 3}}}}, "y", Extents{open, open, 3}) == ir::Shape{1, 5, 3});
}

TEST_CASE("A given shape counts before that of the data", "[compiler][frontend]") {
    const InputShapes both{.given = {{"x", {2, 7, 3}}}, .of_data = {{"x", {1, 5, 3}}}};
    CHECK(known_shape(both, "x", Extents{open, open, 3}) == ir::Shape{2, 7, 3});
    CHECK(known_shape(both, "x", Extents{2, 7, 3}) == ir::Shape{2, 7, 3});
}

}  // namespace
}  // namespace systole::frontend
