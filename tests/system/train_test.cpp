// Trainings as users type them: the shipped steps on the shipped digits.
#include <fmt/format.h>
#include <signal.h>

#include <algorithm>
#include <catch2/catch.hpp>
#include <chrono>
#include <cmath>
#include <cstdint>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <set>
#include <sstream>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "sim/view/report/numbers.h"
#include "tests/support/files.h"
#include "tests/system/progress.h"
#include "tests/system/sim_process.h"
#include "tests/system/started.h"

namespace systole::tests {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::ordered_json;

const std::string folder_of_steps = "models/mnist_cnn/training/";
const std::string digits = " --input models/mnist_cnn/digits-images.idx3-ubyte.gz";
const std::string labels = " --labels models/mnist_cnn/digits-labels.idx1-ubyte.gz";

std::string train(const std::string& step, const std::string& state = folder_of_steps + "state.json") {
    return "train " + folder_of_steps + step + " --machine tpu_v2_1core --state " + state;
}

Json report_in(const fs::path& folder) {
    return Json::parse(text_in(folder / "report.json"));
}

std::vector<std::string> lines_of(const std::string& text) {
    std::istringstream stream(text);
    std::vector<std::string> lines;
    for (std::string line; std::getline(stream, line);) lines.push_back(line);
    return lines;
}

/// The line with which a command that is used in a wrong way ends.
std::string refusal(const std::string& arguments) {
    const Outcome outcome = sim(arguments);
    INFO(arguments);
    INFO(outcome.err);
    CHECK(outcome.exit_code == 2);
    CHECK(outcome.out.empty());
    CHECK(std::ranges::count(outcome.err, '\n') == 1);
    return outcome.err;
}

}  // namespace

TEST_CASE("An epoch on the shipped digits leaves report, page, steps and a checkpoint", "[system][train]") {
    const Folder folder;
    const fs::path out = folder / "out";
    const Outcome outcome = sim(train("step_64.hlo") + digits + labels + " --batch 64 --evaluate " +
                                folder_of_steps + "forward.hlo --validation-split 0.2 --out " + out.string());
    INFO(outcome.err);
    REQUIRE(outcome.exit_code == 0);
    CHECK(without_progress(outcome.err).empty());
    CHECK(outcome.out.starts_with("epoch 1 of 1  accuracy 0."));
    CHECK_THAT(outcome.out,
               Catch::Contains("\nTraining\n") && Catch::Contains("1 epoch of 6 steps") &&
                   Catch::Contains("(16 examples of each epoch fill no batch and are left out)") &&
                   Catch::Contains("jit_step on tpu_v2_1core: the first 4 steps"));
    CHECK_THAT(outcome.out, Catch::Contains("Each step in " + (out / "steps.csv").string()));
    CHECK_THAT(outcome.out, Catch::Contains("The state in " + (out / "checkpoint.npz").string()));
    const Json report = report_in(out);
    const Json& training = report["training"];
    std::set<std::string> keys;
    for (const auto& [key, value] : training.items()) keys.insert(key);
    CHECK(keys == std::set<std::string>{"batch", "epochs", "steps_an_epoch", "steps", "left_out",
                                        "evaluated_on", "timed_steps", "cycles_a_step", "seconds_a_step",
                                        "examples_per_second", "cycles", "seconds", "first_step", "columns",
                                        "by_epoch", "by_step"});
    CHECK(training["batch"] == 64);
    CHECK(training["epochs"] == 1);
    CHECK(training["steps_an_epoch"] == 6);  // of 400 digits
    CHECK(training["steps"] == 6);
    CHECK(training["left_out"] == 16);
    CHECK(training["evaluated_on"] == 100);
    CHECK(training["timed_steps"] == 4);
    CHECK(training["first_step"] == 0);
    CHECK(report["timing_only"] == true);
    CHECK(training["cycles"] ==
          report["cycles"].get<std::uint64_t>() + 2 * training["cycles_a_step"].get<std::uint64_t>());
    CHECK(training["columns"] == Json{"accuracy", "loss"});
    const Json& losses = training["by_step"]["loss"];
    REQUIRE(losses.size() == 6);
    CHECK(losses.back().get<double>() < 0.5 * losses.front().get<double>());
    REQUIRE(training["by_epoch"].size() == 1);
    double sum = 0.0;
    for (const Json& loss : losses) sum += loss.get<double>();
    CHECK(training["by_epoch"][0]["epoch"] == 1);
    CHECK(training["by_epoch"][0]["means"]["loss"].get<double>() == sum / 6.0);
    const auto evaluated = training["by_epoch"][0]["evaluated"].get<double>();
    CHECK((evaluated >= 0.0 && evaluated <= 1.0));
    CHECK(fs::file_size(out / "report.html") > 100'000);
    const std::vector<std::string> steps = lines_of(text_in(out / "steps.csv"));
    REQUIRE(steps.size() == 7);
    CHECK(steps[0] == "step,epoch,accuracy,loss");
    CHECK(steps[1].starts_with("1,1,0."));
    CHECK(steps[6].starts_with("6,1,0."));
    CHECK(text_in(out / "checkpoint.npz").starts_with("PK"));
}

TEST_CASE("Ctrl-C ends a training behind its step, and --resume goes on to the same bytes",
          "[system][train]") {
    const Folder folder;
    const std::string arguments =
        train("step_8.hlo") + " --random-input 1 --random-steps 4 --epochs 2 --out ";
    const auto out = [&](const std::string& name) { return (folder / name).string(); };
    REQUIRE(sim(arguments + out("whole")).exit_code == 0);
    {
        Started training(arguments + out("cut"), folder);
        // A step is a process of its own.
        while (descendants(training.process()).empty()) {
            REQUIRE_FALSE(training.has_ended());
            std::this_thread::sleep_for(std::chrono::milliseconds(1));
        }
        // The terminal sends the signal to all processes of a command.
        for (const pid_t child : descendants(training.process())) ::kill(child, SIGINT);
        ::kill(training.process(), SIGINT);
        CHECK(training.wait() == 130);
    }
    const Json cut = report_in(folder / "cut");
    const std::size_t done = cut["training"]["by_step"]["loss"].size();
    CHECK((done >= 1 && done < 8));
    CHECK_THAT(in_one_line(text_in(folder / "err")),
               Catch::Contains("interrupted after " + std::to_string(done) + " of 8 steps; --resume " +
                               out("cut") + "/checkpoint.npz goes on from there"));
    CHECK(text_in(folder / "cut/checkpoint.npz") != text_in(folder / "whole/checkpoint.npz"));
    const Outcome resumed = sim(arguments + out("rest") + " --resume " + out("cut") + "/checkpoint.npz");
    INFO(resumed.err);
    REQUIRE(resumed.exit_code == 0);
    const bool same_state =
        text_in(folder / "rest/checkpoint.npz") == text_in(folder / "whole/checkpoint.npz");
    CHECK(same_state);
    const Json rest = report_in(folder / "rest");
    CHECK(rest["training"]["first_step"] == done);
    Json losses = cut["training"]["by_step"]["loss"];
    for (const Json& loss : rest["training"]["by_step"]["loss"]) losses.push_back(loss);
    CHECK(losses == report_in(folder / "whole")["training"]["by_step"]["loss"]);
    CHECK(rest["training"]["cycles"] == report_in(folder / "whole")["training"]["cycles"]);
    // Nothing is left to do behind the last step: the state is kept, and there is no table of steps.
    const Outcome nothing = sim(arguments + out("none") + " --resume " + out("rest") + "/checkpoint.npz");
    REQUIRE(nothing.exit_code == 0);
    CHECK(text_in(folder / "none/checkpoint.npz") == text_in(folder / "rest/checkpoint.npz"));
    CHECK_FALSE(fs::exists(folder / "none/steps.csv"));
    CHECK_THAT(nothing.out, !Catch::Contains("steps.csv"));
    // Another training may begin with the state.
    const Outcome again =
        sim(train("step_8.hlo") + " --random-input 1 --initial " + out("rest") + "/checkpoint.npz --json");
    REQUIRE(again.exit_code == 0);
    CHECK(again.json()["training"]["by_step"]["loss"][0] != losses[0]);
}

TEST_CASE("Wrong use of sim train ends in one line", "[system][train]") {
    const Folder folder;
    const std::string step = folder_of_steps + "step_8.hlo";
    CHECK(refusal(train("step_8.hlo") + digits) == "sim: input \"labels\" takes labels: give --labels\n");
    CHECK_THAT(refusal(train("step_8.hlo") + labels), Catch::EndsWith("they need an input\n"));
    CHECK(refusal(train("step_8.hlo")) ==
          "sim: input \"images\" takes examples: give --input, or --random-input\n");
    CHECK(refusal(train("step_8.hlo") + digits + labels + " --batch 9") ==
          "sim: --batch 9: " + step + " takes 8 examples a step\n");
    CHECK_THAT(refusal(train("step_1024.hlo") + digits + labels),
               Catch::EndsWith(": there are 500 examples to train on; a step takes 1024\n"));
    CHECK_THAT(refusal("train " + step + " --machine tpu_v2_8 --state " + folder_of_steps +
                       "state.json --random-input 1"),
               Catch::Contains("it is a program for 1 device; machine tpu_v2_8 has 8 cores"));
    CHECK_THAT(refusal("train " + step + " --machine tpu_v1 --state " + folder_of_steps +
                       "state.json --random-input 1"),
               Catch::Contains("tpu_v1"));
    CHECK_THAT(refusal(train("step_8.hlo") + " --random-input 1 --epochs 0"),
               Catch::Contains("--epochs: Value 0 not in range"));
    CHECK_THAT(refusal(train("step_8.hlo") + " --random-input 1 --seed 4294967296"),
               Catch::Contains("--seed"));
    CHECK_THAT(refusal(train("step_8.hlo") + digits + " --random-input 1"), Catch::Contains("--input"));
    CHECK_THAT(refusal(train("step_8.hlo", folder.path().string() + "/none.json") + " --random-input 1"),
               Catch::Contains("none.json"));
    // A program that answers, of other inputs and outputs.
    const std::string evaluated = digits + labels + " --validation-split 0.2 --evaluate ";
    CHECK_THAT(refusal(train("step_8.hlo") + evaluated + "tests/golden/hlo/donated.hlo"),
               Catch::Contains("donated.hlo: one input must take the examples"));
    CHECK(refusal(train("step_8.hlo") + digits + labels + " --evaluate " + folder_of_steps + "forward.hlo") ==
          "sim: --evaluate needs examples with labels: give --validation-split, or --validation-input and "
          "--validation-labels\n");
    CHECK_THAT(refusal(train("step_8.hlo") + digits + labels + " --validation-split 0.2"),
               Catch::Contains("--evaluate"));
    // Training files.
    const auto changed = [&](const std::string& from, const std::string& to) {
        std::string text = text_in(project / folder_of_steps / "state.json");
        const std::size_t place = text.find(from);
        REQUIRE(place != std::string::npos);
        text.replace(place, from.size(), to);
        return train("step_8.hlo", folder.file("changed.json", text)) + " --random-input 1";
    };
    CHECK_THAT(refusal(changed("\"columns\"", "\"colums\"")),
               Catch::Contains("changed.json: colums is") && Catch::Contains("columns"));
    CHECK_THAT(refusal(changed("\"images\": \"images\"", "\"images\": \"image\"")),
               Catch::Contains("images is \"image\"; " + step + " has no input of that name or position"));
    CHECK_THAT(refusal(changed("\"count\": 41", "\"count\": 44")),
               Catch::Contains("state names 44 inputs from 0 and outputs from 0 on; there are 43 inputs"));
    CHECK_THAT(refusal(changed("output 41", "output 40")), Catch::Contains("columns.loss is \"output 40\""));
    CHECK_THAT(refusal(changed("\"inputs\": \"*\"", "\"inputs\": \"x\"")),
               Catch::Contains("no rule of initial fits input"));
    // Checkpoints.
    const std::string out = (folder / "out").string();
    REQUIRE(sim(train("step_8.hlo") + " --random-input 1 --out " + out).exit_code == 0);
    const std::string resumed = train("step_8.hlo") + " --random-input 1 --resume " + out + "/checkpoint.npz";
    CHECK(refusal(resumed + " --seed 2") ==
          "sim: " + out +
              "/checkpoint.npz: it is of seed 1; the order of examples would change with seed 2\n");
    CHECK_THAT(refusal(resumed + " --initial " + out + "/checkpoint.npz"), Catch::Contains("--resume"));
    CHECK_THAT(refusal(train("step_8.hlo") + " --random-input 1 --resume " + out + "/steps.csv"),
               Catch::Contains("steps.csv"));
}

TEST_CASE("A training waits for a host that makes its input, and between loops of steps", "[system][train]") {
    const Folder folder;
    const std::string arguments =
        train("step_8.hlo") + " --random-input 1 --random-steps 7 --timing-only --json";
    const Json alone = sim(arguments).json();
    const auto fed = [&](const std::string& keys) { return sim(arguments + keys).json(); };
    const Json slow =
        fed(" --set feeding.example_us=2000 --set feeding.step_ms=5 --set feeding.loop_steps=3 "
            "--set feeding.gap_ms=30");
    CHECK_FALSE(alone.contains("feeding"));
    const double chip_ms = 1e3 * alone["training"]["seconds_a_step"].get<double>();
    REQUIRE(chip_ms < 21.0);
    const Json& feeding = slow["feeding"];
    CHECK(feeding["examples"] == 8);
    CHECK(feeding["chip_ms"].get<double>() == Approx(chip_ms));
    CHECK(feeding["host_ms"].get<double>() == Approx(21.0));
    CHECK(feeding["wait_ms"].get<double>() == Approx(21.0 - chip_ms));
    CHECK(feeding["gap_ms"].get<double>() == Approx(10.0));
    CHECK(feeding["step_ms"].get<double>() == Approx(31.0));
    CHECK(feeding["input_share"].get<double>() == Approx(1.0 - chip_ms / 21.0));
    CHECK(feeding["busy_share"].get<double>() == Approx(21.0 / 31.0));
    CHECK(feeding["examples_per_second"].get<double>() == Approx(8 / 0.031));
    CHECK(feeding["steps"] == 7);
    CHECK(feeding["gaps"] == 2);
    CHECK(feeding["seconds"].get<double>() ==
          Approx(alone["training"]["seconds"].get<double>() + 7 * (0.021 - chip_ms / 1e3) + 2 * 0.030));
    // Nothing else changes.
    CHECK(slow["training"] == alone["training"]);
    CHECK(slow["cycles"] == alone["cycles"]);
    CHECK(slow["inferences_per_second"] == alone["inferences_per_second"]);
    // A host that is faster than the chip is not waited for.
    const Json quick = fed(" --set feeding.example_us=0.001")["feeding"];
    CHECK(quick["wait_ms"] == 0.0);
    CHECK(quick["input_share"] == 0.0);
    CHECK(quick["busy_share"] == 1.0);
    CHECK(quick["gaps"] == 0);

    // A network of arrays does not say how many examples a batch of it has.
    const std::string run =
        "run " + folder_of_steps + "step_8.hlo --machine tpu_v2_1core --timing-only --json";
    CHECK_THAT(refusal(run + " --set feeding.example_us=2.5"),
               Catch::Contains("feeding.examples is 0") && Catch::Contains("how many examples"));
    const Json of_run = sim(run + " --set feeding.example_us=2000 --set feeding.examples=8").json();
    CHECK(of_run["feeding"]["host_ms"].get<double>() == Approx(16.0));
    CHECK(of_run["feeding"]["chip_ms"].get<double>() == Approx(1e3 * of_run["seconds"].get<double>()));
    CHECK_THAT(refusal(run + " --set feeding.gap_ms=30"),
               Catch::Contains("feeding.gap_ms is 30; it needs the steps of a loop, feeding.loop_steps"));
}

TEST_CASE("Each shipped program of a training is read and compiled for its machine", "[system][train]") {
    const Folder folder;
    std::set<std::string> seen;
    for (const fs::directory_entry& entry : fs::directory_iterator(project / folder_of_steps)) {
        if (entry.path().extension() == ".hlo") seen.insert(entry.path().stem().string());
    }
    std::set<std::string> expected{"forward"};
    for (const char* const images : {"8", "16", "32", "64", "128", "256", "512", "1024"}) {
        expected.insert(std::string("step_") + images);
        expected.insert(std::string("step_8x") + images);
    }
    CHECK(seen == expected);
    for (const std::string& program : seen) {
        INFO(program);
        const bool on_eight = program.starts_with("step_8x");
        const std::string machine = on_eight ? "tpu_v2_8" : "tpu_v2_1core";
        const Outcome compiled = sim("compile " + folder_of_steps + program + ".hlo --machine " + machine +
                                     " -o " + (folder / "program.tpu").string());
        INFO(compiled.err);
        CHECK(compiled.exit_code == 0);
        CHECK(fs::remove(folder / "program.tpu"));
    }
    for (const auto& [program, machine] :
         {std::pair{"step_8", "tpu_v2_1core"}, std::pair{"step_8x8", "tpu_v2_8"}}) {
        INFO(program);
        const Outcome outcome =
            sim("train " + folder_of_steps + program + ".hlo --machine " + machine + " --state " +
                folder_of_steps + "state.json --random-input 1 --timing-only --json");
        INFO(outcome.err);
        REQUIRE(outcome.exit_code == 0);
        const Json training = outcome.json()["training"];
        CHECK(training["steps"] == 1);
        CHECK(training["by_epoch"].empty());
        CHECK(training["cycles"].get<std::uint64_t>() > 0);
    }
}

TEST_CASE("The first point of the study of training is the row of docs/training.md", "[system][train]") {
    const Json step = report_of(std::string(folder_of_steps) +
                                "step_8x8.hlo --machine tpu_v2_8 --timing-only --no-explain --state " +
                                folder_of_steps + "state.json")
                          .at("step");
    const auto share = [&](const char* part) {
        return 100 * step.at("bounds").at(part).get<double>() / step.at("cycles").get<double>();
    };
    const std::string row =
        fmt::format(" | {:.1f} | {:.1f} | {:.1f} | {:.1f} | {:.1f} | {:.1f} |", share("array"),
                    share("weight_shift"), share("vector"), share("hbm"), share("infeed"), share("link"));
    INFO(row);
    const std::string begin = fmt::format("| {} | {} | ", step.at("examples_of_core").get<std::uint64_t>(),
                                          report::grouped(static_cast<std::uint64_t>(
                                              std::llround(step.at("examples_per_second").get<double>()))));
    INFO(begin);
    const std::string page = text_in(project / "docs/training.md");
    const bool has_row = page.find(row) != std::string::npos;
    const bool has_begin = page.find(begin) != std::string::npos;
    CHECK(has_row);
    CHECK(has_begin);
}

}  // namespace systole::tests
