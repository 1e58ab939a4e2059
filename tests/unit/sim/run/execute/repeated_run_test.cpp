#include "sim/run/execute/repeated_run.h"

#include <catch2/catch.hpp>
#include <stdexcept>
#include <string>
#include <vector>

#include "base/user_error.h"
#include "compiler/ir/model_error.h"
#include "hw/machine/config_error.h"
#include "sim/run/outputs.h"
#include "sim/run/record/bytes.h"
#include "tests/support/files.h"
#include "tests/unit/base/zip/made_zip.h"
#include "tests/unit/sim/study/train/made_training.h"

using namespace systole;
using run::OutputArray;

namespace {

OutputArray array(const std::string& name, const std::vector<std::uint64_t>& shape,
                  const std::vector<float>& numbers) {
    std::vector<std::uint32_t> words;
    for (const float number : numbers) words.push_back(std::bit_cast<std::uint32_t>(number));
    return run::array_in_format(name, shape, DataType::Float32, words);
}

std::vector<float> numbers_from(float first, std::size_t count) {
    std::vector<float> numbers;
    for (std::size_t i = 0; i < count; ++i)
        numbers.push_back(first * 0.7F + static_cast<float>(i * i) / 3.0F);
    return numbers;
}

/// What `sim run` gives for these arrays of donated.hlo.
run::RunRecord run_of(const std::vector<float>& state, const std::vector<float>& change) {
    const tests::Folder folder;
    const std::string file = folder.file(
        "in.npz",
        tests::made_zip(
            {{.name = "state.npy", .bytes = tests::npy("<f4", "(3, 4)", tests::bytes_of(state))},
             {.name = "change.npy", .bytes = tests::npy("<f4", "(3, 4)", tests::bytes_of(change))}}));
    run::RunSpec spec = tests::spec_of(tests::donated());
    spec.data.input = {{.input = "", .content = tests::file_content(file)}};
    spec.observed.outputs = true;
    run::ChildProcess child;
    const run::ChildAnswer answer = child.run([&] { return run::to_bytes(run::run(spec)); });
    INFO(answer.bytes);
    REQUIRE(answer.is_result);
    return run::read_record(answer.bytes);
}

}  // namespace

TEST_CASE("Each run of a repeated run has the values and the cycles of a run of its own", "[run]") {
    run::RepeatedRun repeated(tests::spec_of(tests::donated()));
    REQUIRE(repeated.inputs().size() == 2);
    CHECK(repeated.inputs()[0].name == "state");
    CHECK(repeated.inputs()[1].name == "change");
    CHECK(repeated.inferences() == 1);
    CHECK(repeated.cycles() == 0);
    std::vector<std::vector<OutputArray>> all;
    for (const float first : {1.0F, -20.0F}) {
        const std::vector<float> state = numbers_from(first, 12);
        const std::vector<float> change = numbers_from(2.0F * first, 12);
        const run::RunRecord record = run_of(state, change);
        const std::vector<OutputArray> outputs =
            repeated.run(std::vector{array("state", {3, 4}, state), array("change", {3, 4}, change)});
        REQUIRE(outputs.size() == 2);
        CHECK(outputs == record.answers.output_arrays);
        CHECK(repeated.cycles() == record.cycles);
        all.push_back(outputs);
    }
    CHECK(all[0] != all[1]);
}

TEST_CASE("A repeated run has an inference for each core of the machine", "[run]") {
    run::RunSpec spec = tests::spec_of(tests::donated(), "tpu_v2_8");
    // Without the state, each core has inputs of its own.
    const tests::Folder folder;
    spec.network->path.text =
        folder.file("sum.txt",
                    "graph \"sum\"\ninputs %0, %1\noutputs %2\n%0 float32 1x2 \"a\" file float32\n"
                    "%1 float32 1x2 \"b\" file float32\n%2 float32 1x2 \"y\" file float32\n"
                    "%2 = word_chain(%0, %1) \"y\" {steps [\"add 0 1\"]}\n");
    run::RepeatedRun repeated(spec);
    CHECK(repeated.inferences() == 8);
    const std::vector<float> a = numbers_from(1.0F, 16);
    const std::vector<float> b = numbers_from(3.0F, 16);
    std::vector<float> sums;
    for (std::size_t i = 0; i < a.size(); ++i) sums.push_back(a[i] + b[i]);
    CHECK(repeated.run(std::vector{array("a", {8, 2}, a), array("b", {8, 2}, b)}) ==
          std::vector{array("y", {8, 2}, sums)});
}

TEST_CASE("A repeated run needs an array of each input, in its shape", "[run]") {
    run::RepeatedRun repeated(tests::spec_of(tests::donated()));
    const OutputArray right = array("state", {3, 4}, std::vector<float>(12));
    CHECK_THROWS_AS(repeated.run(std::vector{right}), std::logic_error);
    CHECK_THROWS_AS(repeated.run(std::vector{right, array("change", {4, 3}, std::vector<float>(12))}),
                    UserError);
    // After an error, it runs again.
    CHECK(repeated.run(std::vector{right, right}).size() == 2);
}

TEST_CASE("Networks of images are not for repeated runs", "[run]") {
    run::RunSpec spec =
        tests::spec_of(std::filesystem::path(tests::source_dir()) / "models/mnist_cnn/mnist_cnn.h5");
    CHECK_THROWS_WITH(
        run::RepeatedRun(spec),
        "mnist_cnn: its inputs and outputs are images and classes; arrays of a program are needed");
}
