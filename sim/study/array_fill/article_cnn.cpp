#include <fmt/format.h>

#include "compiler/frontend/door/read_network.h"
#include "sim/study/array_fill/array_fill.h"

namespace systole::studies {
namespace {

using Json = nlohmann::json;

Json convolution(const char* name, const char* input, std::uint32_t filters, std::uint32_t kernel,
                 std::uint32_t stride) {
    return {{"name", name},     {"op", "convolution"}, {"inputs", {input}}, {"filters", filters},
            {"kernel", kernel}, {"stride", stride},    {"padding", "same"}, {"activation", "relu"}};
}

}  // namespace

Json article_cnn_file(const ArticleCnn& which) {
    const std::uint32_t side = 28 * which.size_multiplier;
    const std::uint32_t width = which.width_multiplier;
    const Json layers{
        convolution("conv2d", "input", 12 * width, 3, 1),
        convolution("conv2d_1", "conv2d", 24 * width, 6, 2),
        convolution("conv2d_2", "conv2d_1", 64 * width, 6, 2),
        {{"name", "dense"},
         {"op", "dense"},
         {"inputs", {"conv2d_2"}},
         {"units", 200 * width},
         {"activation", "relu"}},
        {{"name", "dense_1"}, {"op", "dense"}, {"inputs", {"dense"}}, {"units", 10}},
        {{"name", "softmax"}, {"op", "softmax"}, {"inputs", {"dense_1"}}},
    };
    return {{"schema", "sim.graph/1"},
            {"name", fmt::format("mnist_cnn, size x{}, width x{}", which.size_multiplier, width)},
            {"input", {{"shape", {side, side, 1}}}},
            {"weights", {{"seed", 1}}},
            {"layers", layers},
            {"output", "softmax"}};
}

ir::Graph article_cnn(const ArticleCnn& which) {
    return frontend::build_json_graph(article_cnn_file(which).dump(), frontend::WeightValues::Skipped);
}

}  // namespace systole::studies
