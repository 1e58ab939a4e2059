#include "sim/run/host.h"

#include <catch2/catch.hpp>
#include <cmath>
#include <limits>

#include "hw/isa/program_error.h"

using namespace systole;

namespace {

/// A program whose output is so many vectors of three.
isa::Program three_classes(std::uint64_t inferences, bool with_softmax, DataType type = DataType::Uint8) {
    isa::Program program;
    program.model = "net";
    program.inferences = inferences;
    program.outputs.push_back(
        {.name = "out", .shape = {1, 1, 3}, .scale = 0.5, .zero_point = 10, .type = type});
    if (with_softmax) program.host_operations.push_back({.kind = "softmax", .layer = "last"});
    return program;
}

}  // namespace

TEST_CASE("Outputs become real numbers, and the prediction is the first of the largest", "[run]") {
    const std::vector<std::uint8_t> stored{10, 12, 8, 200, 200, 7};
    const run::Outputs outputs = run::read_outputs(three_classes(2, false), stored);
    CHECK(outputs.values == std::vector<float>{0.0F, 1.0F, -1.0F, 95.0F, 95.0F, -1.5F});
    CHECK(outputs.predictions == std::vector<std::uint32_t>{1, 0});
}

TEST_CASE("Signed output bytes are read as signed numbers", "[run]") {
    const std::vector<std::uint8_t> stored{0xff, 0x01, 0x80};
    const run::Outputs outputs = run::read_outputs(three_classes(1, false, DataType::Int8), stored);
    CHECK(outputs.values == std::vector<float>{-5.5F, -4.5F, -69.0F});
    CHECK(outputs.predictions == std::vector<std::uint32_t>{1});
}

TEST_CASE("16-bit outputs are read as 16-bit numbers, and take more bytes of the host", "[run]") {
    const std::vector<std::uint8_t> stored{10, 0, 0xff, 0xff, 0, 0x80, 0, 1, 0xff, 0x7f, 0xff, 0x7f};
    const isa::Program program = three_classes(2, true, DataType::Int16);
    isa::Program plain = program;
    plain.host_operations.clear();
    const run::Outputs outputs = run::read_outputs(plain, stored);
    CHECK(outputs.per_inference == 3);
    CHECK(outputs.values == std::vector<float>{0.0F, -5.5F, -16389.0F, 123.0F, 16378.5F, 16378.5F});
    CHECK(outputs.predictions == std::vector<std::uint32_t>{0, 1});
    REQUIRE(run::output_work(program).size() == 1);
    CHECK(run::output_work(program)[0].elements == 6);
    CHECK(run::output_work(program)[0].type == DataType::Int16);
}

TEST_CASE("Outputs of every integer type are read over their whole range", "[run]") {
    const auto check = []<typename Number>(Number, DataType type) {
        constexpr auto least = std::numeric_limits<Number>::min();
        constexpr auto most = std::numeric_limits<Number>::max();
        constexpr auto half = static_cast<Number>(most / 2 + 1);
        const std::vector<Number> numbers{least, most, half, static_cast<Number>(most - 1), half, least};
        const auto* const bytes = reinterpret_cast<const std::uint8_t*>(numbers.data());
        const run::Outputs outputs =
            run::read_outputs(three_classes(2, false, type), {bytes, numbers.size() * sizeof(Number)});
        CAPTURE(name_of(type));
        for (std::size_t i = 0; i < numbers.size(); ++i) {
            CHECK(outputs.values[i] == static_cast<float>(0.5 * (static_cast<double>(numbers[i]) - 10.0)));
        }
        CHECK(outputs.predictions == std::vector<std::uint32_t>{1, 0});
    };
    check(std::uint8_t{}, DataType::Uint8);
    check(std::int8_t{}, DataType::Int8);
    check(std::int16_t{}, DataType::Int16);
    check(std::uint16_t{}, DataType::Uint16);
    check(std::int32_t{}, DataType::Int32);
}

TEST_CASE("The largest of integers that become the same float is predicted", "[run]") {
    const std::vector<std::int32_t> numbers{2147483645, 2147483646, 2147483647};
    const auto* const bytes = reinterpret_cast<const std::uint8_t*>(numbers.data());
    const run::Outputs outputs =
        run::read_outputs(three_classes(1, false, DataType::Int32), {bytes, numbers.size() * 4});
    CHECK(outputs.values[0] == outputs.values[2]);
    CHECK(outputs.predictions == std::vector<std::uint32_t>{2});
}

TEST_CASE("Softmax gives probabilities and changes no prediction", "[run]") {
    const std::vector<std::uint8_t> stored{10, 12, 8, 255, 254, 0};
    const isa::Program program = three_classes(2, true);
    const run::Outputs outputs = run::read_outputs(program, stored);
    CHECK(outputs.predictions == std::vector<std::uint32_t>{1, 0});
    const float sum = std::exp(0.0F) + std::exp(1.0F) + std::exp(-1.0F);
    CHECK(outputs.values[0] == Approx(1.0F / sum));
    CHECK(outputs.values[1] == Approx(std::exp(1.0F) / sum));
    CHECK(outputs.values[3] + outputs.values[4] + outputs.values[5] == Approx(1.0F));

    const std::vector<run::HostWork> work = run::output_work(program);
    REQUIRE(work.size() == 1);
    CHECK(work[0].kind == "softmax");
    CHECK(work[0].layer == "last");
    CHECK(work[0].elements == 6);
    CHECK(work[0].calls == 1);
}

TEST_CASE("The host works on results once for each batch", "[run]") {
    baselines::Baseline host;
    host.peak_fp32_gflops = 1000;
    host.memory_gb_per_s = 1000;
    host.efficiency = {.peak_share = 1.0, .memory_share = 1.0, .layer_microseconds = 3.0};
    isa::Program program = three_classes(10, true);
    for (const auto& [batch, calls] :
         {std::pair(1U, 10U), std::pair(4U, 3U), std::pair(10U, 1U), std::pair(12U, 1U), std::pair(0U, 1U)}) {
        CAPTURE(batch);
        program.batch = batch;
        CHECK(run::host_calls(program) == calls);
        const std::vector<run::HostWork> work = run::output_work(program);
        CHECK(work.at(0).calls == calls);
        CHECK(run::host_seconds(work.at(0), host) == Approx(calls * 3e-6).epsilon(0.01));
    }
}

TEST_CASE("Only a vector of two or more elements has classes", "[run]") {
    const auto gives = [](std::vector<std::uint32_t> shape) {
        return run::gives_classes({.name = "", .shape = std::move(shape)});
    };
    CHECK(gives({1, 1, 2}));
    CHECK(gives({10}));
    CHECK_FALSE(gives({1, 1, 1}));
    CHECK_FALSE(gives({2, 1, 10}));
    CHECK_FALSE(gives({}));
}

TEST_CASE("An unknown kind of host work is an error", "[run]") {
    isa::Program program = three_classes(1, true);
    CHECK_NOTHROW(run::check_host_operations(program));
    program.host_operations.push_back({.kind = "sort", .layer = "last"});
    CHECK_THROWS_AS(run::check_host_operations(program), isa::ProgramError);
    program.host_operations = {{.kind = "quantize_input", .layer = "first"}};  // not one on outputs
    CHECK_THROWS_AS(run::check_host_operations(program), isa::ProgramError);
    program.host_operations = {{.kind = "softmax", .layer = "last"}};
    program.outputs.clear();
    CHECK_THROWS_AS(run::check_host_operations(program), isa::ProgramError);
}

TEST_CASE("Host time grows with the work and shrinks with the host", "[run]") {
    baselines::Baseline host;
    host.peak_fp32_gflops = 1000;
    host.memory_gb_per_s = 1;  // 5 bytes an element take longer than its few operations
    const run::HostWork work{.kind = "softmax", .layer = "", .elements = 1'000'000};
    CHECK(run::host_seconds(work, host) == Approx(5e6 / 1e9));
    host.memory_gb_per_s = 10;
    CHECK(run::host_seconds(work, host) == Approx(5e6 / 1e10));
    host.peak_fp32_gflops = 0.001;
    CHECK(run::host_seconds(work, host) == Approx(7e6 / 1e6));
    // With the model of its software: half the peak, a quarter of the bandwidth, 3 us for a layer.
    host.efficiency = {.peak_share = 0.5, .memory_share = 0.25, .layer_microseconds = 3.0};
    CHECK(run::host_seconds(work, host) == Approx(3e-6 + 2 * 7e6 / 1e6));
    host.peak_fp32_gflops = 1000;
    CHECK(run::host_seconds(work, host) == Approx(3e-6 + 4 * 5e6 / 1e10));
    CHECK(run::host_seconds({.kind = "softmax", .layer = "", .elements = 0}, host) == Approx(3e-6));
    CHECK_THROWS_AS(run::host_seconds({.kind = "sort", .layer = "", .elements = 1}, host), std::logic_error);
}

TEST_CASE("Accuracy is the share of predictions that equal their labels", "[run]") {
    const std::vector<std::uint32_t> predictions{1, 2, 3, 4};
    CHECK(run::accuracy(predictions, std::vector<std::uint32_t>{1, 2, 3, 4}) == 1.0);
    CHECK(run::accuracy(predictions, std::vector<std::uint32_t>{1, 0, 0, 0}) == 0.25);
    CHECK_THROWS_AS(run::accuracy(predictions, std::vector<std::uint32_t>{1}), std::logic_error);
}
