#include "sim/study/train/train.h"

#include <algorithm>
#include <catch2/catch.hpp>
#include <cstdint>
#include <numeric>
#include <stdexcept>
#include <string>
#include <vector>

#include "base/user_error.h"
#include "tests/support/files.h"
#include "tests/unit/base/zip/made_zip.h"
#include "tests/unit/compiler/frontend/hlo/hlo_builder.h"
#include "tests/unit/sim/study/train/made_training.h"

using namespace systole;
using tests::MadeTraining;

namespace {

/// The state and the loss of each step, by plain sums over the batches of each epoch.
struct Expected {
    std::vector<float> state = std::vector<float>(12, 0.5F);
    std::vector<double> losses = {};

    void train(const std::vector<float>& numbers, std::uint64_t examples, std::uint32_t seed,
               std::uint64_t epoch) {
        const std::vector<std::uint32_t> order = train::order_of_epoch(examples, seed, epoch);
        for (std::size_t first = 0; first + MadeTraining::batch <= examples; first += MadeTraining::batch) {
            double loss = 0.0;
            for (std::size_t row = 0; row < MadeTraining::batch; ++row) {
                for (std::size_t i = 0; i < MadeTraining::each; ++i) {
                    const float change = numbers[order[first + row] * MadeTraining::each + i];
                    state[row * MadeTraining::each + i] += change;
                    loss += change;
                }
            }
            losses.push_back(loss);
        }
    }
};

std::vector<double> losses_of(const train::Training& training) {
    std::vector<double> losses;
    for (const std::vector<double>& row : training.record().steps) {
        REQUIRE(row.size() == 1);
        losses.push_back(row.front());
    }
    return losses;
}

/// Why an order is refused, with "DIR/" for the folder's files.
std::string error_of(const MadeTraining& made) {
    try {
        train::Training(made.order);
    } catch (const UserError& error) {
        std::string message = error.what();
        const std::vector<std::pair<std::string, std::string>> shown{
            {made.folder.path().string() + "/", "DIR/"}, {tests::donated().string(), "donated.hlo"}};
        for (const auto& [path, name] : shown) {
            for (std::size_t at = message.find(path); at != std::string::npos; at = message.find(path))
                message.replace(at, path.size(), name);
        }
        return message;
    }
    return "no error";
}

/// A step with an input of each kind: w + rate, labels and number of the step in the results.
std::string step_text(const std::string& labels = "1x3") {
    return "graph \"step\"\ninputs %0, %1, %2, %3, %4\noutputs %5, %6, %8, %9\n"
           "%0 float32 1x3x4 \"w\" file float32\n%1 float32 1x3x4 \"x\" file float32\n"
           "%2 int32 " +
           labels +
           " \"y\" file int32\n%3 float32 1 \"rate\" file float32\n%4 int32 1 \"t\" file int32\n"
           "%5 float32 1x3x4 \"new w\" file float32\n%6 int32 1 \"step\" file int32\n%7 int32 1x1 \"sum\"\n"
           "%8 int32 1 \"labels\" file int32\n%9 float32 1x3x4 \"same\" file float32\n"
           "%5 = word_chain(%0, %3) \"new w\" {steps [\"add 0 1\"]}\n"
           "%6 = word_chain(%4) \"step\" {steps [\"constant 0x0000000a\", \"add_int 0 1\"]}\n"
           "%7 = word_reduce(%2) \"sum\" {reduction \"sum_int\", axes [1], keep 1, sum_tile 0}\n"
           "%8 = reshape(%7) \"labels\" {shape [1]}\n"
           "%9 = word_chain(%1) \"same\" {steps [\"add 0 0\"]}\n";
}

/// The training of that step: examples with labels, and the rate 0.25.
struct EveryInput : MadeTraining {
    explicit EveryInput(const std::string& text = step_text()) : MadeTraining(7) {
        use(text);
        order.file.state = {{.input = "w", .output = "new w", .count = 1}};
        order.file.images = "x";
        order.file.labels = "y";
        order.file.step = "t";
        order.file.values = {{"rate", 0.25}};
        order.file.columns = {{"a", "step"}, {"b", "2"}};
        order.step.data.labels = tests::file_content(labels_file({9, 1, 2, 3, 4, 5, 6}));
    }
    void use(const std::string& text) {
        const run::RunData data = order.step.data;
        order.step = tests::spec_of(folder.file("step.txt", text));
        order.step.data = data;
    }
};

/// Trained examples with labels, of which the last quarter is evaluated on.
struct Evaluated : MadeTraining {
    Evaluated() : MadeTraining(12) {
        order.step.data.labels = tests::file_content(labels_file(classes));
        order.forward = tests::spec_of(forward());
        order.validation_split = 0.25;
    }
    static inline const std::vector<std::uint8_t> classes{0, 1, 2, 3, 0, 1, 2, 3, 0, 2, 0, 3};

    void answer_with(const std::string& text) { order.forward = tests::spec_of(folder.file("f.txt", text)); }
};

}  // namespace

TEST_CASE("Two epochs of state += change are the sums over the batches in the order of each epoch",
          "[train]") {
    MadeTraining made(7);
    made.order.epochs = 2;
    made.order.seed = 5;
    train::Training training(made.order);
    CHECK(training.all_steps() == 4);
    CHECK(training.replicas() == 1);
    CHECK(training.record().batch == 3);
    CHECK(training.record().steps_an_epoch == 2);
    CHECK(training.record().left_out == 1);
    CHECK(tests::floats_of(training.state().front()) == std::vector<float>(12, 0.5F));
    Expected expected;
    for (std::uint64_t epoch = 0; epoch < 2; ++epoch) {
        expected.train(made.numbers, 7, 5, epoch);
        CHECK_FALSE(training.is_over());
        training.step();
        CHECK(training.record().by_epoch.size() == epoch);
        training.step();
        CHECK(training.record().by_epoch.size() == epoch + 1);
        CHECK(training.state().front().name == "state");
        CHECK(tests::floats_of(training.state().front()) == expected.state);
        CHECK(losses_of(training) == expected.losses);
    }
    CHECK(training.is_over());
    CHECK(training.done() == 4);
    CHECK_THROWS_AS(training.step(), std::logic_error);
    const run::Training& record = training.record();
    CHECK(record.columns == std::vector<std::string>{"loss"});
    CHECK(record.first_step == 0);
    CHECK(record.by_epoch[0].means == std::vector<double>{(expected.losses[0] + expected.losses[1]) / 2});
    CHECK(record.by_epoch[1].means == std::vector<double>{(expected.losses[2] + expected.losses[3]) / 2});
    CHECK_FALSE(record.by_epoch[0].evaluated);
}

TEST_CASE("Training goes on from a checkpoint inside an epoch to the bits that it has without one",
          "[train]") {
    MadeTraining made(13);  // four steps an epoch
    made.order.epochs = 2;
    train::Training whole(made.order);
    while (!whole.is_over()) whole.step();
    const std::filesystem::path file = made.folder / "checkpoint.npz";
    {
        train::Training first(made.order);
        for (int i = 0; i < 3; ++i) first.step();
        first.write_checkpoint(file);
    }
    made.order.file.initial.front().value = 77.0;  // does not matter any more
    train::Training second(made.order);
    second.go_on_from(file);
    CHECK(second.done() == 3);
    CHECK(second.record().first_step == 3);
    while (!second.is_over()) second.step();
    CHECK(second.state() == whole.state());
    const std::vector<double> all = losses_of(whole);
    CHECK(losses_of(second) == std::vector<double>(all.begin() + 3, all.end()));
    // What is known of the first epoch is its last step.
    REQUIRE(second.record().by_epoch.size() == 2);
    CHECK(second.record().by_epoch[0].means == std::vector<double>{all[3]});
    CHECK(second.record().by_epoch[1].means == whole.record().by_epoch[1].means);
    second.write_checkpoint(made.folder / "a.npz");
    whole.write_checkpoint(made.folder / "b.npz");
    CHECK(tests::text_in(made.folder / "a.npz") == tests::text_in(made.folder / "b.npz"));
}

TEST_CASE("A checkpoint of another seed, or beyond the last epoch, is refused", "[train]") {
    MadeTraining made(7);
    made.order.epochs = 2;
    const std::filesystem::path file = made.folder / "checkpoint.npz";
    train::Training first(made.order);
    for (int i = 0; i < 4; ++i) first.step();
    first.write_checkpoint(file);
    const auto error = [&] {
        train::Training training(made.order);
        try {
            training.go_on_from(file);
        } catch (const UserError& caught) {
            CHECK(training.done() == 0);
            return std::string(caught.what()).substr(file.string().size());
        }
        CHECK(training.is_over());
        return std::string("no error");
    };
    CHECK(error() == "no error");
    made.order.seed = 2;
    CHECK(error() == ": it is of seed 1; the order of examples would change with seed 2");
    made.order.seed = 1;
    made.order.epochs = 1;
    CHECK(error() == ": it is after 4 steps; 1 epochs have 2");
}

TEST_CASE("Values at first are those of a file where it has them", "[train]") {
    MadeTraining made(3);
    const std::string file = made.folder.file(
        "v.npz", tests::made_zip({{.name = "state.npy",
                                   .bytes = tests::npy("<f4", "(3, 4)", tests::repeated(2.0F, 12))}}));
    train::Training training(made.order);
    training.set_values(file);
    CHECK(tests::floats_of(training.state().front()) == std::vector<float>(12, 2.0F));
}

TEST_CASE("Each input takes what the training file says: state, examples, labels, step, a value", "[train]") {
    EveryInput made;
    made.order.epochs = 2;
    train::Training training(made.order);
    while (!training.is_over()) training.step();
    const std::vector<std::uint8_t> labels{9, 1, 2, 3, 4, 5, 6};
    std::vector<std::vector<double>> expected;
    for (std::uint64_t epoch = 0; epoch < 2; ++epoch) {
        const std::vector<std::uint32_t> order = train::order_of_epoch(7, 1, epoch);
        for (std::size_t step = 0; step < 2; ++step) {
            double sum = 0.0;
            for (std::size_t i = 0; i < 3; ++i) sum += labels[order[3 * step + i]];
            expected.push_back({static_cast<double>(10 + 2 * epoch + step), sum});
        }
    }
    CHECK(training.record().steps == expected);
    CHECK(tests::floats_of(training.state().front()) == std::vector<float>(12, 0.5F + 4 * 0.25F));
}

TEST_CASE("Outputs that are constants keep their positions, and are no columns", "[train]") {
    // The second of three outputs is a constant.
    tests::HloModule module;
    module.proto().set_name("step");
    module.proto().set_entry_computation_name("entry");
    const std::int64_t sum = module.combiner("add");
    tests::HloComputation entry = module.computation("entry");
    const std::int64_t state = entry.parameter("f32[3,4]");
    const std::int64_t change = entry.parameter("f32[3,4]");
    const std::int64_t zero = entry.add("constant", "f32[]");
    entry.last().mutable_literal()->mutable_shape()->CopyFrom(tests::shape_proto("f32[]"));
    entry.last().mutable_literal()->add_f32s(0.0F);
    const std::int64_t all = entry.add("reduce", "f32[]", {change, zero}, {sum});
    entry.last().add_dimensions(0);
    entry.last().add_dimensions(1);
    const std::int64_t next = entry.add("add", "f32[3,4]", {state, change});
    entry.add("tuple", "(f32[], f32[], f32[3,4])", {all, zero, next});
    MadeTraining made(7);
    const run::RunData data = made.order.step.data;
    made.order.step = tests::spec_of(made.folder.file("step.hlo", module.bytes()));
    made.order.step.data = data;
    made.order.file.state = {{.input = "0", .output = "2", .count = 1}};
    made.order.file.images = "1";
    made.order.file.columns = {{"loss", "0"}};
    {
        train::Training training(made.order);
        while (!training.is_over()) training.step();
        Expected expected;
        expected.train(made.numbers, 7, 1, 0);
        CHECK(tests::floats_of(training.state().front()) == expected.state);
        CHECK(losses_of(training) == expected.losses);
    }
    made.order.file.columns = {{"loss", "1"}};
    CHECK(error_of(made) ==
          "t.json: columns.loss is \"1\"; DIR/step.hlo computes no output of one number of that name or "
          "position");
    made.order.file.state = {{.input = "0", .output = "1", .count = 1}};
    CHECK_THAT(error_of(made), Catch::EndsWith("with output \"output 1\", which is a constant"));
}

TEST_CASE("Inputs that the training file does not name, or twice, are refused", "[train]") {
    const auto error = [](const auto& change) {
        EveryInput made;
        change(made.order.file);
        return error_of(made);
    };
    using File = run::TrainingFile;
    CHECK(error([](File&) {}) == "no error");
    CHECK(error([](File& file) { file.images = "z"; }) ==
          "t.json: images is \"z\"; DIR/step.txt has no input of that name or position");
    CHECK(error([](File& file) { file.images = "5"; }) ==
          "t.json: images is \"5\"; DIR/step.txt has no input of that name or position");
    CHECK(error([](File& file) { file.images = "w"; }) ==
          "t.json: images is \"w\", which is state or has another key, too");
    CHECK(error([](File& file) { file.labels = "x"; }) ==
          "t.json: labels is \"x\", which is state or has another key, too");
    CHECK(error([](File& file) { file.step = "2"; }) ==
          "t.json: step is \"2\", which is state or has another key, too");
    CHECK(error([](File& file) { file.values["3"] = 1; }) ==
          "t.json: values is \"rate\", which is state or has another key, too");
    CHECK(
        error([](File& file) { file.values.clear(); }) ==
        "t.json: input \"rate\" of DIR/step.txt is neither state nor one of images, labels, step and values");
    CHECK(error([](File& file) { file.step.clear(); }) ==
          "t.json: input \"t\" of DIR/step.txt is neither state nor one of images, labels, step and values");
    CHECK(error([](File& file) {
              file.images = "rate";
              file.values = {{"x", 1}};
          }) == "t.json: images is \"rate\", which is one number; it must take examples");
    CHECK(error([](File& file) { file.state.clear(); }) ==
          "DIR/step.txt: it has no state, and neither has t.json: no output replaces an input, and a step "
          "would "
          "change nothing");
    CHECK(error([](File& file) {
              file.values = {{"rate", 1}};
              file.step = "rate";
              file.values = {{"t", 0.5}};
          }) ==
          "t.json: values: 0.5 is for input \"t\", which is int32, whose numbers are whole, from -2147483648 "
          "to "
          "2147483647");
    CHECK_THAT(error([](File& file) { file.initial.clear(); }),
               Catch::EndsWith("no rule of initial fits input \"w\", which is state"));
}

TEST_CASE("Columns are outputs of one number", "[train]") {
    const auto error = [](const std::string& output) {
        MadeTraining made(3);
        made.order.file.columns = {{"loss", output}};
        return error_of(made);
    };
    CHECK(error("1") == "no error");
    CHECK(error("output 0") ==
          "t.json: columns.loss is \"output 0\"; donated.hlo computes no output of one number "
          "of that name or position");
    CHECK_THAT(error("2"), Catch::StartsWith("t.json: columns.loss is \"2\""));
    CHECK_THAT(error("loss"), Catch::StartsWith("t.json: columns.loss is \"loss\""));
}

TEST_CASE("Examples and labels must be there, as many, and enough for a step", "[train]") {
    const auto error = [](const auto& change) {
        EveryInput made;
        change(made);
        return error_of(made);
    };
    CHECK(error([](EveryInput& made) { made.order.batch = 3; }) == "no error");
    CHECK(error([](EveryInput& made) { made.order.batch = 4; }) ==
          "--batch 4: DIR/step.txt takes 3 examples a step");
    CHECK(error([](EveryInput& made) { made.order.step.data.input.clear(); }) ==
          "input \"x\" takes examples: give --input, or --random-input");
    CHECK(error([](EveryInput& made) { made.order.step.data.labels.reset(); }) ==
          "input \"y\" takes labels: give --labels");
    CHECK(error([](EveryInput& made) {
              made.labels_file({1, 2, 3});
          }) == "DIR/labels.idx: there are 3 examples; DIR/examples.npy has 7");
    CHECK(error([](EveryInput& made) {
              made.examples_file(tests::whole_numbers(8));
              made.labels_file({1, 2});
          }) == "DIR/examples.npy: there are 2 examples to train on; a step takes 3");
    CHECK(error([](EveryInput& made) { made.use(step_text("1x2")); }) ==
          "t.json: labels is \"y\", which is (2,); images takes 3 examples");
    CHECK(error([](EveryInput& made) { made.order.epochs = 2'147'483'648; }) ==
          "--epochs 2147483648: each has 2 steps; a training has at most 4294967295");
    CHECK(error([](EveryInput& made) { made.order.step.data.random_input = 1; }) ==
          "--labels and --random-input are given; made-up examples have made-up labels");
    MadeTraining without(7);
    without.order.step.data.labels = tests::file_content(without.labels_file({1, 2, 3, 4, 5, 6, 7}));
    CHECK(error_of(without) == "--labels is given; t.json has no key labels, and nothing takes them");
}

TEST_CASE("Made-up examples are as many as the steps that are asked for", "[train]") {
    EveryInput made;
    made.order.step.data = {};
    made.order.step.data.random_input = 4;
    made.order.random_steps = 5;
    const train::Training training(made.order);
    CHECK(training.record().steps_an_epoch == 5);
    CHECK(training.record().left_out == 0);
}

TEST_CASE("Behind each epoch, the examples that are kept back are answered and held against their labels",
          "[train]") {
    Evaluated made;
    made.order.epochs = 3;
    train::Training training(made.order);
    CHECK(training.record().steps_an_epoch == 3);  // of nine examples
    CHECK(training.record().evaluated_on == 3);
    while (!training.is_over()) training.step();
    Expected expected;
    std::vector<double> shares;
    for (std::uint64_t epoch = 0; epoch < 3; ++epoch) {
        expected.train(made.numbers, 9, 1, epoch);
        int right = 0;
        for (std::size_t example = 9; example < 12; ++example) {
            std::vector<float> answers(4);
            for (std::size_t i = 0; i < 4; ++i) {
                answers[i] = made.numbers[example * 4 + i];
                for (std::size_t row = 0; row < 3; ++row) answers[i] += expected.state[row * 4 + i];
            }
            const auto largest =
                static_cast<std::size_t>(std::ranges::max_element(answers) - answers.begin());
            right += largest == Evaluated::classes[example] ? 1 : 0;
        }
        shares.push_back(right / 3.0);
        REQUIRE(training.record().by_epoch[epoch].evaluated.has_value());
        CHECK(training.record().by_epoch[epoch].evaluated == shares.back());
    }
    CHECK(losses_of(training) == expected.losses);
    INFO("some answers must be right, and some wrong");
    CHECK(*std::ranges::max_element(shares) > 0.0);
    CHECK(*std::ranges::min_element(shares) < 1.0);
}

TEST_CASE("A program that answers and does not fit is refused before the first step", "[train]") {
    for (const bool timing_only : {false, true}) {
        Evaluated made;
        made.order.step.timing_only = timing_only;
        made.order.forward->timing_only = timing_only;
        made.order.forward->machine.hbm.bytes = made.order.forward->machine.vector_row_bytes();
        CHECK_THAT(error_of(made), Catch::Contains("high-bandwidth memory"));
    }
}

TEST_CASE("Other examples are evaluated on where they are given", "[train]") {
    Evaluated made;
    made.order.validation_split = 0.0;
    made.order.step.data.labels.reset();
    run::RunData& data = made.order.forward->data;
    // The sums of the state are far below these.
    std::vector<float> numbers(5 * 4, 0.0F);
    const std::vector<std::uint8_t> labels{3, 1, 0, 2, 2};
    for (std::size_t i = 0; i < 5; ++i) numbers[i * 4 + labels[i]] = 1e6F;
    data.input = {{.input = "",
                   .content = tests::file_content(made.folder.file(
                       "others.npy", tests::npy("<f4", "(5, 4)", tests::bytes_of(numbers))))}};
    data.labels = tests::file_content(made.folder.file("others.idx", tests::idx_labels({3, 1, 0, 2, 1})));
    train::Training training(made.order);
    CHECK(training.record().steps_an_epoch == 4);  // all twelve
    CHECK(training.record().evaluated_on == 5);
    while (!training.is_over()) training.step();
    CHECK(training.record().by_epoch.front().evaluated == 0.8);
}

TEST_CASE("What is evaluated on is given once, with a label of its classes for each", "[train]") {
    const auto error = [](const auto& change) {
        Evaluated made;
        change(made);
        return error_of(made);
    };
    const auto give_others = [](Evaluated& made) {
        made.order.forward->data.input = made.order.step.data.input;
        made.order.forward->data.labels = made.order.step.data.labels;
    };
    CHECK(error([](Evaluated&) {}) == "no error");
    CHECK(error([](Evaluated& made) { made.order.forward.reset(); }) ==
          "--validation-split needs a program that answers: give --evaluate");
    CHECK(error(give_others) ==
          "--validation-split and --validation-input are given; one says what is evaluated on");
    CHECK(error([&](Evaluated& made) {
              made.order.validation_split = 0.0;
              give_others(made);
              made.order.step.data.labels.reset();
              made.order.forward->data.labels.reset();
          }) == "--validation-input needs the classes: give --validation-labels");
    CHECK(error([&](Evaluated& made) {
              give_others(made);
              made.order.forward->data.input.clear();
          }) == "--validation-labels is given without --validation-input, whose classes they are");
    const std::string nothing =
        "--evaluate needs examples with labels: give --validation-split, or "
        "--validation-input and --validation-labels";
    CHECK(error([](Evaluated& made) {
              made.order.validation_split = 0.0;
              made.order.step.data.labels.reset();
          }) == nothing);
    CHECK(error([](Evaluated& made) { made.order.step.data.labels.reset(); }) == nothing);
    CHECK(error([](Evaluated& made) {
              made.labels_file({1, 2, 3});
          }) == "DIR/labels.idx: there are 3 labels; DIR/examples.npy has 12 examples");
    CHECK(error([](Evaluated& made) {
              made.labels_file({0, 1, 2, 3, 0, 1, 2, 3, 0, 1, 4, 3});
          }) == "DIR/labels.idx: label 10 is 4; DIR/forward.txt has 4 classes, 0 to 3");
    CHECK(error([](Evaluated& made) { made.order.validation_split = 1e-20; }) ==
          "DIR/examples.npy: none of its 12 examples is left to evaluate on");
    CHECK(error([](Evaluated& made) { made.order.validation_split = 0.9; }) ==
          "DIR/examples.npy: there are 1 examples to train on; a step takes 3");
}

TEST_CASE("A program that answers takes examples and state, and gives a float for each example and class",
          "[train]") {
    const auto error = [](const std::string& text) {
        Evaluated made;
        made.answer_with(text);
        return error_of(made);
    };
    const std::string head = "graph \"f\"\ninputs %0, %1\noutputs %2\n";
    const std::string chain = "%2 = word_chain(%0, %1) \"y\" {steps [\"add 0 1\"]}\n";
    CHECK(error(head +
                "%0 float32 1x3x4 \"state\" file float32\n%1 float32 1x3x4 \"x\" file float32\n"
                "%2 float32 1x3x4 \"y\" file float32\n" +
                chain) == "no error");
    CHECK(error(head +
                "%0 float32 1x3x4 \"a\" file float32\n%1 float32 1x3x4 \"b\" file float32\n"
                "%2 float32 1x3x4 \"y\" file float32\n" +
                chain) ==
          "DIR/f.txt: one input must take the examples, the others the names of the training's state; of 2 "
          "inputs, "
          "these have none of its names: \"a\", \"b\"");
    CHECK(error("graph \"f\"\ninputs %0\noutputs %1\n%0 float32 1x3x4 \"state\" file float32\n"
                "%1 float32 1x3x4 \"y\" file float32\n%1 = word_chain(%0) \"y\" {steps [\"add 0 0\"]}\n") ==
          "DIR/f.txt: one input must take the examples, the others the names of the training's state; of 1 "
          "inputs, "
          "these have none of its names: none");
    CHECK(error(head +
                "%0 float32 1x1x4 \"state\" file float32\n%1 float32 1x3x4 \"x\" file float32\n"
                "%2 float32 1x3x4 \"y\" file float32\n" +
                chain) ==
          "DIR/f.txt: input \"state\" is float32 (1, 4); in the training it is float32 (3, 4)");
    CHECK(error(head +
                "%0 float32 1x3x4 \"state\" file float16\n%1 float32 1x3x4 \"x\" file float32\n"
                "%2 float32 1x3x4 \"y\" file float32\n" +
                chain) ==
          "DIR/f.txt: input \"state\" is float16 (3, 4); in the training it is float32 (3, 4)");
    CHECK(error(head +
                "%0 float32 1x3x4 \"state\" file float32\n%1 float32 1 \"x\" file float32\n"
                "%2 float32 1x3x4 \"y\" file float32\n" +
                chain) == "DIR/f.txt: input \"x\" is one number; it must take examples");
    CHECK(error(head +
                "%0 float32 1x3x4 \"state\" file float32\n%1 float32 1x1x4 \"x\" file float32\n"
                "%2 float32 1x3x4 \"y\" file float32\n" +
                chain) ==
          "DIR/f.txt: output \"y\" is float32 (3, 4); evaluation needs floats, one for each of 1 examples "
          "and each "
          "class");
    CHECK_THAT(error("graph \"f\"\ninputs %0, %1\noutputs %2\nstate %0 -> %2\n"
                     "%0 float32 1x3x4 \"state\" file float32\n%1 float32 1x3x4 \"x\" file float32\n"
                     "%2 float32 1x3x4 \"y\" file float32\n" +
                     chain),
               Catch::Contains("it has state; a program that answers changes nothing"));
    CHECK(error(head + "%0 float32 1x3x4 \"state\" file float32\n%1 float32 1x3x4 \"x\" file float32\n"
                       "%2 int32 1x3x4 \"y\" file int32\n"
                       "%2 = word_chain(%0, %1) \"y\" {steps [\"less 0 1\"]}\n") ==
          "DIR/f.txt: output \"y\" is int32 (3, 4); evaluation needs floats, one for each of 3 examples and "
          "each "
          "class");
}
