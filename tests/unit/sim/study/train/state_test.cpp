#include "sim/study/train/state.h"

#include <algorithm>
#include <bit>
#include <catch2/catch.hpp>
#include <cmath>
#include <cstring>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "base/whole_file.h"
#include "hw/machine/config_error.h"
#include "hw/math/floats/float_values.h"
#include "hw/math/floats/word_values.h"
#include "sim/run/input/array_file.h"
#include "sim/run/input/formats.h"
#include "sim/view/arrays/npy_file.h"
#include "tests/support/files.h"
#include "tests/system/input_files.h"
#include "tests/unit/base/zip/made_zip.h"

using namespace systole;
using run::InitialRule;
using run::InputTensor;
using run::OutputArray;
using run::TrainingFile;

namespace {

InputTensor tensor(const std::string& name, std::vector<std::uint32_t> shape,
                   DataType type = DataType::Float32) {
    return {.name = name, .shape = std::move(shape), .type = type};
}

/// A file with one rule for all inputs.
TrainingFile with_rule(InitialRule rule, std::optional<double> value = {}) {
    TrainingFile file;
    file.path = "t.json";
    file.initial.push_back({.inputs = "*", .rule = rule, .value = value});
    return file;
}

std::vector<std::uint32_t> words_of(const OutputArray& array) {
    std::vector<std::uint32_t> words(array.stored.size() / bytes_of(array.type));
    math::to_words(array.stored.data(), array.type, words);
    return words;
}

std::vector<float> floats_of(const OutputArray& array) {
    std::vector<float> floats;
    for (const std::uint32_t word : words_of(array)) floats.push_back(std::bit_cast<float>(word));
    return floats;
}

OutputArray made(const InputTensor& input, InitialRule rule, std::optional<double> value = {},
                 std::uint64_t seed = 1) {
    return train::initial_state({input}, with_rule(rule, value), seed).front();
}

std::string error_of(const InputTensor& input, InitialRule rule, std::optional<double> value = {}) {
    try {
        made(input, rule, value);
    } catch (const machine::ConfigError& error) {
        return error.what();
    }
    return "no error";
}

/// All formats, with the words of two numbers that each holds.
const std::map<DataType, std::vector<std::uint32_t>>& words_by_type() {
    static const std::map<DataType, std::vector<std::uint32_t>> all{
        {DataType::Uint8, {0, 255}},
        {DataType::Int8, {127, 0xffffff80}},
        {DataType::Int16, {1, 0xffff8000}},
        {DataType::Uint16, {1, 65535}},
        {DataType::Int32, {7, 0x80000000}},
        {DataType::Bfloat16, {0x3f800000, 0xc0490000}},
        {DataType::Float32, {0x3f800001, 0x7f800000}},
        {DataType::Uint32, {1, 0xffffffff}},
        {DataType::Float16, {0x3f800000, 0xc0200000}},
        {DataType::Bool, {0, 1}}};
    return all;
}

/// An .npz file of float32 arrays.
std::string floats_file(const tests::Folder& folder, const std::string& name, const std::string& shape,
                        const std::vector<float>& numbers) {
    std::string bytes(numbers.size() * sizeof(float), '\0');
    std::memcpy(bytes.data(), numbers.data(), bytes.size());
    return folder.file("given.npz",
                       tests::made_zip({{.name = name + ".npy", .bytes = tests::npy("<f4", shape, bytes)}}));
}

}  // namespace

TEST_CASE("Zeros, ones and a value are the same number everywhere, in each format", "[train]") {
    for (const auto& [type, words] : words_by_type()) {
        INFO(name_of(type));
        const InputTensor input = tensor("x", {2, 3}, type);
        const std::uint32_t one = is_float(type) ? 0x3f800000 : 1;
        const OutputArray zeros = made(input, InitialRule::Zeros);
        CHECK(zeros.name == "x");
        CHECK(zeros.shape == std::vector<std::uint64_t>{2, 3});
        CHECK(words_of(zeros) == std::vector<std::uint32_t>(6, 0));
        CHECK(words_of(made(input, InitialRule::Ones)) == std::vector<std::uint32_t>(6, one));
        CHECK(words_of(made(input, InitialRule::Value, 1.0)) == std::vector<std::uint32_t>(6, one));
    }
    CHECK(floats_of(made(tensor("x", {}), InitialRule::Value, 0.001)) == std::vector<float>{0.001F});
    CHECK(words_of(made(tensor("x", {1}, DataType::Int8), InitialRule::Value, -128)) ==
          std::vector<std::uint32_t>{0xffffff80});
    CHECK(words_of(made(tensor("x", {1}, DataType::Uint32), InitialRule::Value, 4294967295.0)) ==
          std::vector<std::uint32_t>{0xffffffff});
}

TEST_CASE("A number for floats of 16 bits is rounded to them", "[train]") {
    const float third = 1.0F / 3.0F;
    CHECK(floats_of(made(tensor("x", {1}, DataType::Bfloat16), InitialRule::Value, 1.0 / 3.0)) ==
          std::vector<float>{math::rounded_to_bfloat16(third)});
    CHECK(floats_of(made(tensor("x", {1}, DataType::Float16), InitialRule::Value, 1.0 / 3.0)) ==
          std::vector<float>{math::rounded_to_float16(third)});
    for (const float number :
         floats_of(made(tensor("x", {20, 20}, DataType::Bfloat16), InitialRule::GlorotUniform)))
        CHECK(math::rounded_to_bfloat16(number) == number);
}

TEST_CASE("A number that its input's format does not hold is refused", "[train]") {
    const auto of = [](DataType type, double number) {
        return error_of(tensor("x", {2}, type), InitialRule::Value, number);
    };
    CHECK(of(DataType::Int8, 128) ==
          "t.json: initial, \"*\": 128 is for input \"x\", which is int8, whose numbers are whole, from -128 "
          "to 127");
    CHECK_THAT(of(DataType::Uint8, -1), Catch::Contains("whole, from 0 to 255"));
    CHECK_THAT(of(DataType::Int32, 2147483648.0), Catch::Contains("to 2147483647"));
    CHECK_THAT(of(DataType::Int32, 0.5), Catch::Contains("0.5 is for"));
    CHECK_THAT(of(DataType::Uint32, 4294967296.0), Catch::Contains("to 4294967295"));
    CHECK_THAT(of(DataType::Uint32, -1), Catch::Contains("from 0"));
    CHECK_THAT(of(DataType::Bool, 2), Catch::Contains("from 0 to 1"));
    CHECK(of(DataType::Float16, 1e6) ==
          "t.json: initial, \"*\": input \"x\" is float16 (2,); 1000000 is beyond its largest number");
    CHECK(of(DataType::Float16, 65504) == "no error");
    CHECK(of(DataType::Float32, 1e30) == "no error");
}

TEST_CASE("Glorot's uniform values lie between the limits of fans in and out, and come close to both",
          "[train]") {
    const auto check = [](std::vector<std::uint32_t> shape, double fans) {
        const std::vector<float> numbers =
            floats_of(made(tensor("kernel", shape), InitialRule::GlorotUniform));
        const auto limit = static_cast<float>(std::sqrt(6.0 / fans));
        const auto [least, most] = std::ranges::minmax(numbers);
        CHECK(least >= -limit);
        CHECK(most <= limit);
        CHECK(least < -0.98F * limit);
        CHECK(most > 0.98F * limit);
        double sum = 0.0;
        for (const float number : numbers) sum += number;
        // The mean of n uniform numbers deviates by limit / sqrt(3 n); five times that.
        const auto count = static_cast<double>(numbers.size());
        CHECK(std::abs(sum / count) < 5.0 * limit / std::sqrt(3.0 * count));
    };
    check({30, 50}, 30 + 50);
    check({3, 5, 20, 10}, 3 * 5 * (20 + 10));  // a window of 3 x 5
    check({2, 40, 20}, 2 * (40 + 20));
}

TEST_CASE("He's normal values have variance 2 / fan in after they are cut", "[train]") {
    const std::vector<float> numbers =
        floats_of(made(tensor("kernel", {5, 4, 25, 40}), InitialRule::HeNormal));
    const double deviation = std::sqrt(2.0 / (5 * 4 * 25));
    double sum = 0.0;
    double squares = 0.0;
    for (const float number : numbers) {
        sum += number;
        squares += double{number} * number;
    }
    const auto count = static_cast<double>(numbers.size());
    CHECK(std::abs(sum / count) < 5.0 * deviation / std::sqrt(count));
    CHECK(std::sqrt(squares / count) == Approx(deviation).epsilon(0.02));
    // Cut at two deviations of the normal distribution before the cut.
    const auto most = static_cast<float>(2.0 * deviation / 0.87962566103423978);
    const auto [lowest, highest] = std::ranges::minmax(numbers);
    CHECK(lowest >= -most);
    CHECK(highest <= most);
    CHECK(highest > 0.97F * most);
}

TEST_CASE("Rules for kernels need floats of two axes, and random bits whole numbers", "[train]") {
    for (const InitialRule rule : {InitialRule::GlorotUniform, InitialRule::HeNormal}) {
        CHECK(error_of(tensor("b", {7}), rule) ==
              "t.json: initial, \"*\": input \"b\" is float32 (7,); the rule is for kernels, which have at "
              "least two axes");
        CHECK_THAT(error_of(tensor("b", {}), rule), Catch::Contains("at least two axes"));
        CHECK(error_of(tensor("i", {7, 2}, DataType::Int32), rule) ==
              "t.json: initial, \"*\": input \"i\" is int32 (7, 2); the rule is for floats");
    }
    for (const DataType type : {DataType::Float32, DataType::Float16, DataType::Bfloat16})
        CHECK_THAT(error_of(tensor("f", {2}, type), InitialRule::RandomBits),
                   Catch::EndsWith("random bits are for whole numbers"));
}

TEST_CASE("Random bits fill each format of whole numbers", "[train]") {
    const std::vector<std::uint32_t> words =
        words_of(made(tensor("seed", {64}, DataType::Uint32), InitialRule::RandomBits));
    std::uint32_t ones = 0;
    std::uint32_t zeros = 0;
    for (const std::uint32_t word : words) {
        ones |= word;
        zeros |= ~word;
    }
    CHECK(ones == 0xffffffff);
    CHECK(zeros == 0xffffffff);
    for (const auto& [type, held] : words_by_type()) {
        if (is_float(type)) continue;
        INFO(name_of(type));
        const std::vector<std::uint32_t> each =
            words_of(made(tensor("s", {256}, type), InitialRule::RandomBits));
        const std::set<std::uint32_t> different(each.begin(), each.end());
        CHECK(different.size() >= (type == DataType::Bool ? 2U : 100U));
        // As many truth values are true as false, up to five deviations.
        if (type == DataType::Bool) CHECK(std::abs(std::ranges::count(each, 1U) - 128) < 5 * 8);
    }
}

TEST_CASE("A seed and a name give the same values; another seed or name gives others", "[train]") {
    for (const InitialRule rule : {InitialRule::GlorotUniform, InitialRule::HeNormal}) {
        const auto values = [&](const std::string& name, std::uint64_t seed) {
            return made(tensor(name, {4, 5}), rule, {}, seed).stored;
        };
        CHECK(values("a", 1) == values("a", 1));
        CHECK(values("a", 1) != values("b", 1));
        CHECK(values("a", 1) != values("a", 2));
    }
    // The place among the inputs does not count.
    const std::vector<InputTensor> inputs{tensor("a", {4, 5}), tensor("b", {4, 5})};
    const std::vector<InputTensor> turned{inputs[1], inputs[0]};
    const TrainingFile file = with_rule(InitialRule::GlorotUniform);
    CHECK(train::initial_state(inputs, file, 3)[0] == train::initial_state(turned, file, 3)[1]);
}

TEST_CASE("The first rule whose pattern fits makes the values; each input needs one", "[train]") {
    TrainingFile file;
    file.path = "t.json";
    file.initial = {{.inputs = "*bias", .rule = InitialRule::Ones, .value = {}},
                    {.inputs = "dense*", .rule = InitialRule::Value, .value = 3.0}};
    const std::vector<OutputArray> state =
        train::initial_state({tensor("dense/kernel", {}), tensor("dense/bias", {})}, file, 1);
    CHECK(floats_of(state[0]) == std::vector<float>{3.0F});
    CHECK(floats_of(state[1]) == std::vector<float>{1.0F});
    CHECK_THROWS_WITH(train::initial_state({tensor("rate", {})}, file, 1),
                      "t.json: no rule of initial fits input \"rate\", which is state");
}

TEST_CASE("A checkpoint of each format is read back bit by bit, with steps and seed", "[train]") {
    const tests::Folder folder;
    std::vector<InputTensor> inputs;
    std::vector<OutputArray> state;
    for (const auto& [type, words] : words_by_type()) {
        inputs.push_back(tensor("state['" + std::string(name_of(type)) + "/w']", {2}, type));
        const OutputArray zeros = made(inputs.back(), InitialRule::Zeros);
        state.push_back(zeros);
        math::from_words(words, zeros.type, state.back().stored.data());
        CHECK(words_of(state.back()) == words);
    }
    inputs.push_back(tensor("number", {}));
    state.push_back(made(inputs.back(), InitialRule::Value, 0.25));
    const std::filesystem::path file = folder / "c.npz";
    train::write_checkpoint(state, {.steps = 4'000'000'000, .seed = 4'294'967'295}, file);
    std::vector<OutputArray> read = train::initial_state(inputs, with_rule(InitialRule::Zeros), 1);
    const train::Progress progress = train::read_checkpoint(read, inputs, file);
    CHECK(progress.steps == 4'000'000'000);
    CHECK(progress.seed == 4'294'967'295);
    REQUIRE(read.size() == state.size());
    for (std::size_t i = 0; i < state.size(); ++i) {
        INFO(inputs[i].name);
        CHECK(read[i] == state[i]);
    }
    // The same state is the same file.
    train::write_checkpoint(read, progress, folder / "d.npz");
    CHECK(tests::text_in(folder / "d.npz") == tests::text_in(file));
    CHECK_THROWS_AS(train::write_checkpoint(read, progress, folder / "none" / "c.npz"), OutputError);
}

TEST_CASE("A checkpoint must have all of the state, and say how far it is", "[train]") {
    const tests::Folder folder;
    const std::vector<InputTensor> inputs{tensor("a", {2}), tensor("b", {})};
    std::vector<OutputArray> state = train::initial_state(inputs, with_rule(InitialRule::Ones), 1);
    const std::filesystem::path file = folder / "c.npz";
    const auto error = [&](const std::vector<OutputArray>& written) {
        train::write_checkpoint(written, {}, file);
        try {
            train::read_checkpoint(state, inputs, file);
        } catch (const input::InputError& caught) {
            return std::string(caught.what());
        }
        return std::string("no error");
    };
    CHECK(error(state) == "no error");
    CHECK(error({state[0]}) == file.string() + ": it has no array \"b\", which is state of the program");
    std::vector<OutputArray> larger = state;
    larger[1].shape = {1};
    CHECK(error(larger) == file.string() + ": array \"b\": its shape is (1,); input \"b\" is ()");
    const std::string plain = floats_file(folder, "a", "(2,)", {1, 2});
    CHECK_THROWS_WITH(train::read_checkpoint(state, inputs, plain),
                      plain + ": array \"training.steps\": it has no such array, and is no checkpoint");
    const std::string several = folder.file(
        "several.npz", tests::made_zip({{.name = "training.steps.npy",
                                         .bytes = tests::npy("<u4", "(2,)", std::string(8, '\0'))}}));
    CHECK_THROWS_WITH(train::read_checkpoint(state, inputs, several),
                      several + ": array \"training.steps\": it must be one number");
}

TEST_CASE("Values of a file replace those of inputs that it names; the others stay", "[train]") {
    const tests::Folder folder;
    const std::vector<InputTensor> inputs{tensor("a", {2}), tensor("b", {2, 1}, DataType::Int8)};
    std::vector<OutputArray> state = train::initial_state(inputs, with_rule(InitialRule::Ones), 1);
    const OutputArray a_before = state[0];
    train::read_state(state, inputs, floats_file(folder, "b", "(2, 1)", {-3, 4}));
    CHECK(state[0] == a_before);
    CHECK(words_of(state[1]) == std::vector<std::uint32_t>{0xfffffffd, 4});
    CHECK(state[1].type == DataType::Int8);
    CHECK(state[1].name == "b");
    const auto error = [&](const std::string& file) {
        try {
            train::read_state(state, inputs, file);
        } catch (const input::InputError& caught) {
            return std::string(caught.what()).substr(file.size());
        }
        return std::string("no error");
    };
    CHECK(error(floats_file(folder, "c", "(2, 1)", {1, 2})) ==
          ": none of its 1 arrays has the name of an input that is state, such as \"a\"");
    CHECK(error(floats_file(folder, "b", "(1, 2)", {1, 2})) ==
          ": array \"b\": its shape is (1, 2); input \"b\" is (2, 1)");
    CHECK_THAT(error(floats_file(folder, "b", "(2, 1)", {1, 128})),
               Catch::Contains("element (1, 0) is 128; input \"b\" takes int8, whose numbers are whole"));
    CHECK(error(folder.file("a.npy", tests::npy("<f4", "(2,)", tests::repeated(1.0F, 2)))) ==
          ": it is no .npz file");
    CHECK_THAT(error(folder.file("a.npz", "PK")), Catch::Contains("NPY or NPZ"));
}
