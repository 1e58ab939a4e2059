// The sizes that a file leaves open of its inputs, as readers of all formats close them.
#include "compiler/frontend/input_shapes.h"

#include <catch2/catch.hpp>
#include <cstdint>
#include <optional>
#include <string>
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

TEST_CASE("A shape is for the input of its name, or for those that fit its pattern", "[compiler][frontend]") {
    const NamedShapes shapes{{"past.*", {1, 3}}, {"past.1", {1, 4}}, {"a*b", {1, 5}}};
    CHECK(*shape_for(shapes, "past.0") == ir::Shape{1, 3});
    CHECK(*shape_for(shapes, "past.1") == ir::Shape{1, 4});
    CHECK(*shape_for(shapes, "a*b") == ir::Shape{1, 5});
    CHECK(shape_for(shapes, "present.0") == nullptr);
    CHECK(*shape_for({{"", {1, 6}}, {"past.*", {1, 3}}}, "x") == ir::Shape{1, 6});
    const std::vector<std::string> inputs{"past.0", "past.1", "a*b"};
    CHECK_NOTHROW(check_given_shapes(shapes, inputs));
    CHECK_THROWS_WITH(check_given_shapes({{"pst.*", {1}}}, inputs),
                      "the shape of \"pst.*\" is given, but it has no input of this name");
    CHECK_THROWS_WITH(check_given_shapes({{"past.*", {1}}, {"*.0", {1}}}, inputs),
                      "the shape of input \"past.0\" is given twice, by \"*.0\" and \"past.*\"");
    CHECK_NOTHROW(check_given_shapes({{"past.*", {1}}, {"*.0", {1}}, {"past.0", {1}}}, inputs));
}

TEST_CASE("Files whose networks have no caches take no size of 0", "[compiler][frontend]") {
    CHECK(closed_shape(Extents{open, open, 3}, ir::Shape{1, 1, 3}) == ir::Shape{1, 1, 3});
    CHECK_THROWS_WITH(closed_shape(Extents{open, open, 3}, ir::Shape{1, 0, 3}),
                      "its dimension 1 is given as 0; it must be at least 1");
}

}  // namespace
}  // namespace systole::frontend
