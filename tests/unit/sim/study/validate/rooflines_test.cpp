#include "sim/study/validate/rooflines.h"

#include <array>
#include <catch2/catch.hpp>
#include <cmath>
#include <string>
#include <vector>

#include "compiler/frontend/door/read_network.h"
#include "hw/machine/config_error.h"
#include "sim/run/baselines/expected.h"
#include "sim/study/validate/fit.h"
#include "tests/unit/sim/study/validate/shipped.h"

namespace systole::validate {
namespace {

/// The shipped formulas, of which those of rooflines need no run.
double value_of(const std::string& formula) {
    static Formulas formulas = formulas_of(shipped_setup());
    return formulas.value(formula, "here").value();
}

TEST_CASE("The shapes have the multiply-accumulates and weights of the graph files", "[sim][validate]") {
    const Shapes& shapes = shipped_setup().shapes;
    CHECK(shapes.size() == 7);
    for (const auto& [name, network_shapes] : shapes) {
        INFO(name);
        const std::string& file = shipped_setup().models.at(name).path.text;
        const baselines::Network network =
            baselines::network_of(frontend::read_network(file, frontend::WeightValues::Skipped));
        std::uint64_t macs = 0;
        std::uint64_t weights = 0;
        for (const null_models::Layer& layer : network_shapes.layers) {
            std::uint64_t rows = 0;
            for (const std::uint64_t matrix : layer.inputs) rows += matrix;
            weights += rows * layer.columns;
            macs += rows * layer.columns * layer.vectors;
        }
        CHECK(weights == network.weights());
        CHECK(macs == network.macs());
    }
    CHECK(shapes.at("LSTM1").layers.back().inputs == std::vector<std::uint64_t>{600, 600, 600});
    CHECK(shapes.at("LSTM1").layers.back().bits == 16);
    CHECK(shapes.at("CNN0").layers.front().inputs == std::vector<std::uint64_t>{25 * 48});
    CHECK(shapes.at("CNN0").layers.front().vectors == 361);
}

TEST_CASE("A file of shapes that is none is refused", "[sim][validate]") {
    nlohmann::json object = nlohmann::json::parse(
        R"({"schema": "sim.shapes/1", "N": {"input_bytes": 1, "output_bytes": 1, "layers": [
            {"name": "a", "inputs": [3], "columns": 4, "vectors": 1, "bits": 8}]}})");
    const auto message = [&] {
        try {
            read_shapes(object, "s.json");
        } catch (const machine::ConfigError& error) {
            return std::string(error.what());
        }
        return std::string("nothing thrown");
    };
    CHECK(message() == "nothing thrown");
    SECTION("bits between") {
        object["N"]["layers"][0]["bits"] = 12;
        CHECK(message() == "s.json: N.layers[0].bits is 12; it must be 8 or 16");
    }
    SECTION("no layers") {
        object["N"]["layers"] = nlohmann::json::array();
        CHECK(message() == "s.json: N has no layers");
    }
    SECTION("another schema") {
        object["schema"] = "sim.graph/1";
        CHECK(message() == "s.json: schema is \"sim.graph/1\"; it must be \"sim.shapes/1\"");
    }
}

/// Worked by hand from Table 2 and Figure 1. MLP0 has 5 layers of 8 x 8, 8 x 7, 7 x 9, 9 x 8 and 8 x 8 tiles,
/// each 1349.27 cycles of the memory at 34 GB/s and 200 of the array.
TEST_CASE("MLP0's roofline is 319 tiles of the memory", "[sim][validate]") {
    CHECK(value_of("roofline.tiles.MLP0") == 319);
    const double tile = 65536 / 34e9 * 700e6;
    CHECK(value_of("roofline.total.MLP0") == Approx(319 * tile));
    CHECK(value_of("roofline.active.MLP0") == Approx(319 * 200.0));
    CHECK(value_of("roofline.shift.MLP0") == Approx(319 * 256.0));
    CHECK(value_of("roofline.transfer.MLP0") == Approx(200 * 2 * 2016 / (10 * 1073741824.0) * 700e6));
    CHECK(value_of("roofline.layers.MLP0") == 5);
    // 20,385,024 weights, 200 times each, on 65,536 cells, are 12.5 % of the published cycles.
    const double published = 20385024.0 * 200 / 65536 / 0.125;
    CHECK(value_of("measured_cycles.MLP0") == Approx(published));
    CHECK(value_of("null.bound.MLP0") == Approx(319 * tile / published - 1.0));
    CHECK(value_of("null.scaled.MLP0") == Approx(value_of("roofline_factor") * 319 * tile / published - 1.0));
    // CNN0 waits for no weights.
    CHECK(value_of("roofline.stall.CNN0 + roofline.shift.CNN0") == 0.0);
    CHECK(value_of("null_row.weight_stall.CNN0") == 0.0);
}

TEST_CASE("A roofline's rows of Table 3 make up all cycles", "[sim][validate]") {
    for (const std::string name : {"MLP0", "MLP1", "LSTM0", "LSTM1", "CNN0", "CNN1"}) {
        const auto row = [&](const std::string& key) { return value_of("null_row." + key + "." + name); };
        CHECK(row("array_active") + row("weight_stall") + row("weight_shift") + row("non_matrix") ==
              Approx(100.0));
        CHECK(row("useful_macs") + row("unused_macs") == Approx(row("array_active")));
    }
}

/// An audit found these by its own means, in tenths of a per cent: 2.7, the other three 3.8; with PCIe 5.2.
TEST_CASE("The rooflines of the workloads have the errors that another reconstruction found",
          "[sim][validate]") {
    CHECK(value_of("mean_size_of.null.scaled") == Approx(0.027).margin(0.0005));
    CHECK(value_of("mean_size_of.null.with_transfers") == Approx(0.052).margin(0.0015));

    // The factor of three, held against the other three.
    Formulas formulas = formulas_of(shipped_setup());
    std::vector<double> measured;
    std::vector<double> predicted;
    for (const auto& [name, number] : formulas.row("measured_cycles", "here"))
        measured.push_back(number.value());
    for (const auto& [name, number] : formulas.row("roofline.total", "here"))
        predicted.push_back(number.value());
    CHECK(null_others_mean(measured, predicted, 3) == Approx(0.038).margin(0.0005));
}

TEST_CASE("A roofline scales as Figure 11 scales the chip", "[sim][validate]") {
    for (const std::string curve : {"memory", "clock", "clock_plus", "matrix", "matrix_plus"}) {
        CHECK(value_of("least_of.null_eight_bits_speed." + curve + ".same") == Approx(1.0));
        CHECK(value_of("most_of.null_eight_bits_speed." + curve + ".same") == Approx(1.0));
    }
    CHECK(value_of("null_eight_bits_speed.memory.double.MLP0") == Approx(2.0));
    CHECK(value_of("null_eight_bits_speed.memory.double.CNN0") == Approx(1.0));
    CHECK(value_of("null_eight_bits_speed.clock.double.MLP0") == Approx(1.0));
    CHECK(value_of("null_eight_bits_speed.clock.half.CNN0") == Approx(0.5));
    // 600 x 600 matrices: 9 tiles of 64 KiB become 4 of 256 KiB.
    CHECK(value_of("null_eight_bits_speed.matrix.double.LSTM1") == Approx(9.0 / 16.0));
    CHECK(value_of("null_eight_bits_speed.matrix_plus.double.LSTM1") == Approx(9.0 / 16.0));
    CHECK(value_of("roofline_512.tiles.MATRIX") == 9 - 5);
}

}  // namespace
}  // namespace systole::validate
