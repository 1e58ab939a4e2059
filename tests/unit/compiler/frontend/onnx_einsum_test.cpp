// ONNX's Einsum against the sum over its definition.
#include <algorithm>
#include <catch2/catch.hpp>
#include <cctype>
#include <cstddef>
#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "compiler/ir/model_error.h"
#include "compiler/reference/executor.h"
#include "tests/support/file_nodes.h"
#include "tests/support/random_runs.h"
#include "tests/unit/compiler/frontend/node_draw.h"

using namespace systole;
using tests::check_near;
using tests::NodeDraw;
using tests::nodes::counted_reals;
using tests::nodes::read_node;
using tests::nodes::reals;
using tests::nodes::Tensor;

namespace {

/// Axes by letters; capital letters stand for those of "...", which are the same ones from the last on.
using Axes = std::string;

struct DrawnEinsum {
    std::vector<Axes> terms;
    Axes result;
    std::map<char, std::uint32_t> extents;
    std::string equation;
    std::vector<Tensor> inputs;
};

/// The term of an equation.
std::string text_of(const Axes& axes, bool has_ellipsis) {
    const auto first = std::ranges::find_if(axes, [](char axis) { return std::isupper(axis) != 0; });
    const auto begin = first == axes.end() ? axes.begin() : first;
    std::string text(axes.begin(), begin);
    if (has_ellipsis) text += "...";
    text += std::string(std::find_if(begin, axes.end(), [](char axis) { return std::islower(axis) != 0; }),
                        axes.end());
    return text;
}

DrawnEinsum drawn_einsum(std::uint32_t seed) {
    NodeDraw draw(seed);
    DrawnEinsum drawn;
    const Axes letters = "jbia";  // not in the order of the alphabet
    const Axes others = "YZ";
    for (const char axis : letters + others) {
        drawn.extents[axis] = static_cast<std::uint32_t>(draw.number(1, 4));
    }
    const bool has_ellipsis = draw.number(0, 2) == 0;
    const std::int64_t count = draw.number(1, 3);
    Axes all;
    for (std::int64_t i = 0; i < count; ++i) {
        Axes term;
        const std::int64_t axes = draw.number(1, 3);
        for (std::int64_t k = 0; k < axes; ++k) {
            const char axis = letters[static_cast<std::size_t>(draw.number(0, 3))];
            // A diagonal now and then.
            if (term.find(axis) == Axes::npos || draw.number(0, 3) == 0) term += axis;
        }
        if (has_ellipsis && draw.number(0, 3) != 0) {
            const auto place = static_cast<std::size_t>(draw.number(0, static_cast<int>(term.size())));
            term.insert(place, others.substr(static_cast<std::size_t>(draw.number(0, 1))));
        }
        all += term;
        drawn.terms.push_back(term);
    }
    const bool is_implied = draw.number(0, 3) == 0;
    Axes used = all;
    std::ranges::sort(used);
    const Axes sorted = used;
    used.erase(std::unique(used.begin(), used.end()), used.end());
    for (const char axis : used) {
        const bool is_other = std::isupper(axis) != 0;
        const bool is_kept = is_implied ? std::ranges::count(sorted, axis) == 1 : draw.number(0, 1) == 0;
        if (is_other || is_kept) drawn.result += axis;  // capital letters sort first
    }
    if (!is_implied && drawn.result.size() > 1 && draw.number(0, 1) == 0) {
        const auto first =
            std::ranges::find_if(drawn.result, [](char axis) { return std::islower(axis) != 0; });
        std::reverse(first, drawn.result.end());
    }
    for (const Axes& term : drawn.terms) {
        drawn.equation += drawn.equation.empty() ? "" : draw.number(0, 1) == 0 ? "," : " , ";
        const bool has_others = std::ranges::any_of(term, [](char axis) { return std::isupper(axis) != 0; });
        drawn.equation += text_of(term, has_others);
    }
    const bool has_others =
        std::ranges::any_of(drawn.result, [](char axis) { return std::isupper(axis) != 0; });
    if (!is_implied) drawn.equation += " -> " + text_of(drawn.result, has_others);
    for (std::size_t i = 0; i < drawn.terms.size(); ++i) {
        std::vector<std::uint32_t> extents;
        for (const char axis : drawn.terms[i]) {
            // An axis of 1 is repeated, but those of a diagonal have as many elements.
            const bool is_single = std::ranges::count(drawn.terms[i], axis) == 1;
            extents.push_back(is_single && draw.number(0, 5) == 0 ? 1 : drawn.extents[axis]);
        }
        const ir::Shape shape(extents);
        drawn.inputs.push_back(reals(shape, draw.values(static_cast<std::int64_t>(shape.elements()))));
        drawn.inputs.back().is_constant = i > 0 && draw.number(0, 2) == 0;
    }
    // The first input is constant only where another one is none.
    const bool has_computed = std::ranges::any_of(drawn.inputs.begin() + 1, drawn.inputs.end(),
                                                  [](const Tensor& input) { return !input.is_constant; });
    drawn.inputs.front().is_constant = has_computed && draw.number(0, 2) == 0;
    // What all operands repeat has one element.
    for (auto& [axis, extent] : drawn.extents) {
        std::uint32_t most = 1;
        for (std::size_t i = 0; i < drawn.terms.size(); ++i) {
            for (std::size_t k = 0; k < drawn.terms[i].size(); ++k) {
                if (drawn.terms[i][k] == axis) most = std::max(most, drawn.inputs[i].shape[k]);
            }
        }
        extent = most;
    }
    return drawn;
}

std::size_t place_in(const Axes& axes, const ir::Shape& shape, std::map<char, std::uint32_t>& index) {
    std::size_t place = 0;
    for (std::size_t k = 0; k < axes.size(); ++k) {
        place = place * shape[k] + (shape[k] == 1 ? 0 : index[axes[k]]);
    }
    return place;
}

ir::Shape shape_of_result(const DrawnEinsum& drawn) {
    std::vector<std::uint32_t> extents;
    for (const char axis : drawn.result) extents.push_back(drawn.extents.at(axis));
    return ir::Shape(extents);
}

/// The sum, for each index of the result, of the products of all elements with that index.
std::vector<float> by_definition(const DrawnEinsum& drawn) {
    const ir::Shape shape = shape_of_result(drawn);
    std::vector<float> result(shape.elements(), 0.0F);
    std::map<char, std::uint32_t> index;
    for (const Axes& term : drawn.terms) {
        for (const char axis : term) index[axis] = 0;
    }
    while (true) {
        float product = 1.0F;
        for (std::size_t i = 0; i < drawn.terms.size(); ++i) {
            product *= drawn.inputs[i].reals()[place_in(drawn.terms[i], drawn.inputs[i].shape, index)];
        }
        result[place_in(drawn.result, shape, index)] += product;
        auto axis = index.begin();
        while (axis != index.end() && ++axis->second == drawn.extents.at(axis->first)) {
            axis->second = 0;
            ++axis;
        }
        if (axis == index.end()) return result;
    }
}

std::string einsum_refusal(const std::string& equation, const std::vector<ir::Shape>& shapes) {
    std::vector<Tensor> inputs;
    for (const ir::Shape& shape : shapes) inputs.push_back(counted_reals(shape));
    try {
        static_cast<void>(read_node(tests::nodes::onnx("Einsum", {{"equation", equation}}), inputs));
    } catch (const ModelError& error) {
        return error.what();
    }
    return "no error";
}

}  // namespace

TEST_CASE("ONNX's Einsum is the sum over its definition", "[compiler][operators]") {
    for (std::uint32_t seed = 0; seed < tests::random_runs(400); ++seed) {
        const DrawnEinsum drawn = drawn_einsum(seed);
        INFO("seed " << seed << ": " << drawn.equation);
        const ir::Graph graph =
            read_node(tests::nodes::onnx("Einsum", {{"equation", drawn.equation}}), drawn.inputs);
        std::vector<std::vector<float>> computed;
        std::vector<std::span<const float>> inputs;
        for (const Tensor& input : drawn.inputs) {
            if (!input.is_constant) computed.push_back(input.reals());
        }
        inputs.assign(computed.begin(), computed.end());
        CHECK(graph.output().shape == shape_of_result(drawn));
        check_near(reference::execute(graph, inputs, 1).front(), by_definition(drawn));
    }
}

TEST_CASE("ONNX's Einsum with constant weights is a layer with weights", "[compiler][operators]") {
    Tensor weights = counted_reals({3, 4});
    weights.is_constant = true;
    for (const bool is_first : {false, true}) {
        const std::vector<Tensor> inputs = is_first ? std::vector{weights, counted_reals({1, 5, 3})}
                                                    : std::vector{counted_reals({1, 5, 3}), weights};
        const char* const equation = is_first ? "io,bti->bto" : "bti,io->bto";
        const ir::Graph graph = read_node(tests::nodes::onnx("Einsum", {{"equation", equation}}), inputs);
        const auto is_layer = [](const ir::Node& node) { return node.is("convolution"); };
        CHECK(std::ranges::count_if(graph.nodes, is_layer) == 1);
        CHECK(graph.output().shape == ir::Shape{1, 5, 4});
    }
}

TEST_CASE("An equation of Einsum that does not fit its inputs is refused", "[compiler][operators]") {
    CHECK_THAT(einsum_refusal("ij,jk", {{2, 3}}),
               Catch::Contains("\"ij,jk\" has 2 terms for 1 input; it must have one for each input"));
    CHECK_THAT(einsum_refusal("ijk->i", {{2, 3}}),
               Catch::Contains("its term \"ijk\" names 3 letters; input 0 is 2x3"));
    CHECK_THAT(einsum_refusal("ij,jk->ik", {{2, 3}, {4, 5}}),
               Catch::Contains("its axis \"j\" is of 3 and of 4 elements; these must be as many"));
    CHECK_THAT(einsum_refusal("i1->i", {{2, 3}}), Catch::Contains("its term \"i1\" must be of letters"));
    CHECK_THAT(einsum_refusal("......->", {{2, 3}}),
               Catch::Contains("its term \"......\" names 3 letters; input 0 is 2x3"));
    CHECK_THAT(einsum_refusal("ij->ik", {{2, 3}}),
               Catch::Contains("each axis of its result must be one of an input, and occur once"));
    CHECK_THAT(einsum_refusal("ij->ii", {{2, 3}}), Catch::Contains("and occur once"));
    CHECK_THAT(einsum_refusal("ii->i", {{2, 3}}),
               Catch::Contains("its axis \"i\" is of 2 and of 3 elements"));
}
