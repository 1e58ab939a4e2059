#include "compiler/target/tpu_v1/choose/fit_memory.h"

#include <algorithm>
#include <catch2/catch.hpp>
#include <string>
#include <vector>

#include "compiler/ir/model_error.h"
#include "compiler/target/tpu_v1/schedule/schedule.h"
#include "tests/support/network_builder.h"

namespace systole::tpu_v1 {
namespace {

constexpr ir::Window same_3x3{
    .kernel_height = 3, .kernel_width = 3, .pad_top = 1, .pad_left = 1, .pad_bottom = 1, .pad_right = 1};

/// Over a 16 x 4 x 8 image, of which a line is four rows of eight bytes.
class TallImages : public tests::NetworkBuilder {
public:
    TallImages() : NetworkBuilder({16, 4, 8}) {}

    TensorId convolution(TensorId from) { return NetworkBuilder::convolution(from, 8, same_3x3); }
    TensorId pool(TensorId from) {
        return NetworkBuilder::pool(from,
                                    {.kernel_height = 2, .kernel_width = 2, .stride_y = 2, .stride_x = 2});
    }
};

Target target_of_rows(std::uint32_t rows) {
    return {.geometry = {.rows = 8, .columns = 8},
            .accumulator_rows = 64,
            .unified_buffer_rows = rows,
            .weight_memory_bytes = 1 << 20};
}

machine::MachineConfig machine_of(const Target& target) {
    machine::MachineConfig machine;
    machine.matrix_unit.rows = target.geometry.rows;
    machine.matrix_unit.columns = target.geometry.columns;
    machine.unified_buffer.rows = target.unified_buffer_rows;
    return machine;
}

FittedNetwork fit(const Network& network, std::uint32_t rows) {
    const Target target = target_of_rows(rows);
    return fit_memory(analyse(network, target), target, machine_of(target));
}

/// Rows of the parameters of a convolution.
constexpr std::uint32_t constants = 9;
constexpr std::uint32_t image_rows_of_input = 64;

}  // namespace

TEST_CASE("A network of which an image fits stays as it is", "[compiler][schedule][fit_memory]") {
    TallImages builder;
    builder.convolution(0);
    const FittedNetwork fitted = fit(builder.network(), constants + 2 * image_rows_of_input);
    CHECK_FALSE(fitted.fit.has_value());
    CHECK(fitted.analysed.network().layers.size() == 1);
    CHECK(fitted.target == target_of_rows(constants + 2 * image_rows_of_input));
}

TEST_CASE("A layer whose image lacks a row is computed in two strips that share its weights",
          "[compiler][schedule][fit_memory]") {
    TallImages builder;
    builder.convolution(0);
    const FittedNetwork fitted = fit(builder.network(), constants + 2 * image_rows_of_input - 1);
    REQUIRE(fitted.fit.has_value());
    CHECK(fitted.fit->cut_layers == 1);
    CHECK(fitted.fit->strips == 2);
    CHECK(fitted.fit->extra_macs == 0);
    CHECK(fitted.fit->spilled.empty());
    const Schedule schedule = make_schedule(fitted.analysed, fitted.target, {});
    CHECK(schedule.weight_tiles == 9);
    CHECK(schedule.constant_rows == constants);
    REQUIRE(schedule.layers.size() == 6);
    CHECK(schedule.layers[4].first_weight_tile == schedule.layers[1].first_weight_tile);
    CHECK(schedule.layers[4].segments == [&] {
        auto segments = schedule.layers[1].segments;
        segments[0][0].layer = 4;
        return segments;
    }());
    // Lines 7 and 8 are read twice. The window's padding is at the image's border only.
    const std::string text = to_text(schedule);
    for (const char* line : {"layer 1 fetch \"t0[0..8]\" 0 from byte 0 of \"t0\"\n",
                             "layer 3 send \"t1[0..7]\" 0 to byte 0 of \"t1\"\n",
                             "layer 4 fetch \"t0[7..15]\" 0 from byte 224 of \"t0\"\n",
                             "layer 5 \"l1\" convolution, 0 MACs, part of layer 2\n",
                             "layer 6 send \"t1[8..15]\" 0 to byte 256 of \"t1\"\n"}) {
        CAPTURE(line, text);
        CHECK(text.find(line) != std::string::npos);
    }
    const auto window_of = [&](std::size_t layer) {
        return *std::get<MatrixProduct>(fitted.analysed.network().layers[layer].work).window;
    };
    CHECK(window_of(1).pad_top == 1);
    CHECK(window_of(1).pad_bottom == 0);
    CHECK(window_of(4).pad_top == 0);
    CHECK(window_of(4).pad_bottom == 1);
}

TEST_CASE(
    "Layers in a run of strips compute the lines that two strips need twice, and leave their last output "
    "on the chip",
    "[compiler][schedule][fit_memory]") {
    TallImages builder;
    const TensorId pooled = builder.pool(builder.convolution(builder.convolution(0)));
    builder.convolution(pooled);
    const FittedNetwork fitted = fit(builder.network(), 3 * constants + image_rows_of_input + 8);
    REQUIRE(fitted.fit.has_value());
    CHECK(fitted.fit->spilled.empty());
    CHECK(fitted.fit->cut_layers >= 2);
    CHECK(fitted.fit->extra_macs > 0);
    std::uint32_t kept = 0;
    for (const Layer& layer : fitted.analysed.network().layers) {
        const auto* const joined = std::get_if<Concatenation>(&layer.work);
        if (joined == nullptr) continue;
        ++kept;
        CHECK(joined->axis == Concatenation::Axis::Lines);
        CHECK(layer.output == pooled);
    }
    CHECK(kept == 1);
    // The strips are computed in their place.
    const Schedule schedule = make_schedule(fitted.analysed, fitted.target, {});
    for (const Operation& operation : schedule.operations)
        CHECK_FALSE(std::holds_alternative<CopyLines>(operation));
    CHECK(schedule.memory.rows <= fitted.target.unified_buffer_rows);
}

TEST_CASE("The tensor that is needed again last goes through host memory",
          "[compiler][schedule][fit_memory]") {
    TallImages builder;
    const TensorId early = builder.convolution(0);
    const TensorId first = builder.pool(early);
    TensorId last = builder.convolution(first);
    for (int i = 0; i < 3; ++i) last = builder.convolution(last);
    builder.sum(last, first);
    Network& network = builder.network();
    network.outputs = {network.layers.back().output};
    // Pooled tensors have 16 rows; a strip of a convolution takes 8 or more, which do not fit beside one.
    const FittedNetwork fitted = fit(network, 5 * constants + 16 + 7);
    REQUIRE(fitted.fit.has_value());
    const std::vector<std::string>& spilled = fitted.fit->spilled;
    CHECK(std::ranges::count(spilled, network.tensors[first].name) == 1);
    CHECK(fitted.fit->spilled_bytes >= 2 * image_bytes(network.tensors[first]));
    CHECK(make_schedule(fitted.analysed, fitted.target, {}).memory.rows <= fitted.target.unified_buffer_rows);
    // With rows for it, it stays: the layers beside it are cut.
    CHECK(fit(network, 5 * constants + 2 * 16 + 8).fit->spilled.empty());
}

TEST_CASE("The text of a fit says what is cut and spilled, or that nothing is",
          "[compiler][schedule][fit_memory]") {
    const std::string first = "an image does not fit the unified buffer\n";
    CHECK(to_text(machine::CutImages{}) ==
          first +
              "  inputs and outputs move directly before and behind the layers that need and make them\n");
    CHECK(to_text(machine::CutImages{.cut_layers = 1, .strips = 2, .extra_macs = 7, .spilled = {}}) ==
          first + "  1 layer is computed in 2 strips of lines, with 7 more MACs an image\n");
    CHECK(to_text(machine::CutImages{.cut_layers = 3, .strips = 9, .extra_macs = -7, .spilled = {}}) ==
          first + "  3 layers are computed in 9 strips of lines, with 7 fewer MACs an image\n");
    CHECK(to_text(machine::CutImages{.spilled = {"a", "b"}, .spilled_bytes = 12}) ==
          first + "  2 tensors go through host memory, 12 bytes an image: \"a\" \"b\"\n");
}

TEST_CASE("A layer of which not one line fits is refused with the sizes",
          "[compiler][schedule][fit_memory]") {
    TallImages builder;
    builder.convolution(0);
    // Three lines of the input and one of the output, four rows each.
    CHECK(fit(builder.network(), constants + 16).fit->strips == 16);
    CHECK_THROWS_WITH(
        fit(builder.network(), constants + 15),
        "made: layer \"l1\": one line of its output, what it is computed from, and the parameters "
        "and tables of all layers need 200 bytes of unified buffer; the machine has 192");
}

}  // namespace systole::tpu_v1
