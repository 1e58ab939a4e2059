// A program for a machine with a tensor core, as a user runs it: its answers, its report, its page and its
// traces.
#include <algorithm>
#include <bit>
#include <catch2/catch.hpp>
#include <cstdint>
#include <map>
#include <nlohmann/json.hpp>
#include <set>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include "tests/support/timeline.h"
#include "tests/support/vcd.h"
#include "tests/system/sim_process.h"

using namespace systole::tests;
using Json = nlohmann::ordered_json;

namespace {

const std::string core_run =
    "tests/support/tensor/two_layers.asm --machine tests/support/tensor/machine.json ";

std::uint64_t busy_cycles(const ReadVcd& waves, const std::string& name) {
    const auto values = waves.by_cycle(name);
    return static_cast<std::uint64_t>(std::count(values.begin(), values.end(), ReadVcd::Value(1)));
}

}  // namespace

TEST_CASE("A program for a tensor core gives the same with each engine, and from its file", "[system]") {
    const Folder folder;
    const Json first = report_of(core_run + "--print out:int32");
    std::vector<float> numbers;
    for (const std::int32_t word : first.at("buffers").at(0).at("values").get<std::vector<std::int32_t>>()) {
        numbers.push_back(std::bit_cast<float>(word));
    }
    // The first row, minus the second one below 0, twice the third one, and the sum of all.
    CHECK(numbers == std::vector<float>{1, 2, 3, 4, 0, 0, 0, 0, 18, 20, 22, 24, 28, 32, 36, 40});
    const std::string file = (folder / "two.tpu").string();
    REQUIRE(sim("asm tests/support/tensor/two_layers.asm -o " + file).exit_code == 0);
    const Json from_file = report_of(file + " --machine tests/support/tensor/machine.json --print out:int32");
    const Json cells = report_of(core_run + "--print out:int32 --set machine.matrix_unit.engine=pe");
    const Json timed = report_of(core_run + "--timing-only");
    for (const char* const key : {"units", "layers", "bounds", "traffic", "cycles"}) {
        INFO(key);
        CHECK(from_file.at(key) == first.at(key));
        CHECK(cells.at(key) == first.at(key));
        CHECK(timed.at(key) == first.at(key));
    }
    CHECK(from_file.at("buffers") == first.at("buffers"));
    CHECK(cells.at("buffers") == first.at("buffers"));
}

TEST_CASE("A program for a tensor core leaves a report, its page and all traces", "[system]") {
    const Folder folder;
    const std::string out = (folder / "").string();
    const Outcome outcome = sim("run " + core_run + "--quiet --trace timeline,waves,csv,text --out " + out);
    INFO(outcome.err);
    REQUIRE(outcome.exit_code == 0);
    const Json report = Json::parse(text_in(folder / "report.json"));
    const Json& units = report.at("units");
    CHECK(report.at("layers").at(1).at("matrix_unit").at("non_matrix_reasons").at("vector_work_cycles") ==
          report.at("layers").at(1).at("cycles"));
    CHECK(report.at("traffic").at("hbm_read_bytes") == units.at("dma").at("in_bytes"));
    CHECK(report.at("traffic").at("host_read_bytes") == 128);

    const ReadTimeline timeline = read_timeline(folder / "timeline.json.gz");
    std::set<std::string> tracks;
    for (const auto& [name, slices] : timeline.tracks) tracks.insert(name);
    for (const char* const track : {"layers", "sequencer", "host_read", "dma_in", "weights", "matrix unit",
                                    "vector", "dma_out", "host_write"}) {
        INFO(track);
        CHECK(tracks.contains(track));
    }
    CHECK(timeline.last("host read bytes") == 128);
    CHECK(timeline.last("host write bytes") == 64);

    const ReadVcd waves = read_vcd(text_in(folder / "waves.vcd"));
    CHECK(waves.end_cycle() == report.at("cycles"));
    CHECK(busy_cycles(waves, "vector_unit.busy") == units.at("vector_unit").at("busy_cycles"));
    CHECK(busy_cycles(waves, "dma.in_busy") == units.at("dma_in").at("busy_cycles").get<std::uint64_t>() +
                                                   units.at("dma_in").at("hbm_cycles").get<std::uint64_t>());

    const std::string page = (folder / "again.html").string();
    CHECK(sim("report " + out + " --out " + page).exit_code == 0);
    CHECK(text_in(page).find("\"cross_lane_unit\"") != std::string::npos);
}

TEST_CASE("A network runs on a tensor core, all of it on the chip", "[system]") {
    // The last batch has one image.
    const Json report = report_of("mnist_cnn --machine tpu_v2_1core --limit 3 --batch 2");
    CHECK(report.at("inferences") == 3);
    CHECK(report.at("accuracy") == 1.0);
    CHECK(report.at("host_operations").empty());
    CHECK(report.at("matrix_unit").at("useful_macs").get<std::uint64_t>() > 0);
    // With other images beside them, they are the same.
    const Json at_once = report_of("mnist_cnn --machine tpu_v2_1core --limit 3 --batch 3");
    CHECK(at_once.at("predictions") == report.at("predictions"));
}

TEST_CASE("Eight cores share a batch, and their report sums what each of them did", "[system]") {
    const Folder folder;
    const std::string out = (folder / "").string();
    const Outcome outcome =
        sim("run mnist_cnn --machine tpu_v2_8 --limit 27 --batch 16 --quiet --trace timeline --out " + out);
    INFO(outcome.err);
    REQUIRE(outcome.exit_code == 0);
    const Json report = Json::parse(text_in(folder / "report.json"));
    const Json one = report_of("mnist_cnn --machine tpu_v2_1core --limit 27 --batch 2");
    CHECK(report.at("predictions") == one.at("predictions"));
    CHECK(report.at("inferences") == 27);
    CHECK(report.at("cores") == 8);
    CHECK(report.at("arrays") == 8);
    const std::uint64_t cycles = report.at("cycles");
    const Json& unit = report.at("matrix_unit");
    std::uint64_t classes = 0;
    for (const char* const each :
         {"active_cycles", "weight_stall_cycles", "weight_shift_cycles", "non_matrix_cycles"}) {
        classes += unit.at(each).get<std::uint64_t>();
    }
    CHECK(classes == cycles * 8);
    std::uint64_t of_layers = 0;
    for (const Json& layer : report.at("layers")) of_layers += layer.at("cycles").get<std::uint64_t>();
    CHECK(of_layers == cycles);
    // The last batch has 11 images, two for each core: the chip computes 16 of them.
    std::map<std::string, std::uint64_t> sums;
    std::set<std::string> names;
    std::uint64_t last = 0;
    for (const Json& part : report.at("parts")) {
        const std::uint64_t alike = part.at("names").size();
        for (const Json& name : part.at("names")) CHECK(names.insert(name).second);
        if (!part.at("cycles").is_null()) last = std::max(last, part.at("cycles").get<std::uint64_t>());
        for (const auto& [unit_name, counters] : part.at("units").items()) {
            for (const auto& [counter, value] : counters.items()) {
                sums[unit_name + "." + counter] += alike * value.get<std::uint64_t>();
            }
        }
    }
    CHECK(names.size() == 8 + 4);
    CHECK(last == cycles);
    for (const auto& [unit_name, counters] : report.at("units").items()) {
        for (const auto& [counter, value] : counters.items()) {
            CAPTURE(unit_name, counter);
            CHECK(sums.at(unit_name + "." + counter) == value.get<std::uint64_t>());
        }
    }
    CHECK(report.at("units").at("host_interface").at("read_bytes") == 32 * 28 * 28 * 4);
    // The timeline has a process for each core, and products in all of them.
    const ReadTimeline timeline = read_timeline(folder / "timeline.json.gz");
    std::map<int, std::string> processes;
    std::map<int, std::uint64_t> products;
    for (const auto& event : timeline.whole.at("traceEvents")) {
        const int process = event.at("pid");
        if (event.value("name", "") == "process_name") processes[process] = event.at("args").at("name");
        if (event.value("name", "") == "product") ++products[process];
    }
    CHECK(processes.size() == 8);
    CHECK(processes.at(8) == "tpu_v2_8 chip3.core1");
    CHECK(products.size() == 8);
    for (const auto& [process, count] : products) CHECK(count == products.at(1));
    CHECK(report.at("tops").at("peak").get<double>() == Approx(8 * one.at("tops").at("peak").get<double>()));
    // The groups have all cores, and lists of their own but for the first, whose are those of the report.
    std::set<std::string> grouped;
    for (const Json& group : report.at("cores_alike")) {
        for (const Json& name : group.at("names")) grouped.insert(name);
        const bool is_first = &group == &report.at("cores_alike").front();
        CHECK(group.contains("memory") != is_first);
        const Json& memory = is_first ? report.at("memory") : group.at("memory");
        CHECK_FALSE(memory.at("over_time").at("vector_memory_bytes").empty());
        CHECK_FALSE(memory.at("vector_memory_map").at("values").empty());
    }
    CHECK(grouped.size() == 8);
}

TEST_CASE("The cells of a tensor core are not shown", "[system]") {
    const Outcome cells = sim("run " + core_run + "--set machine.matrix_unit.engine=pe --registers 0-9");
    CHECK(cells.exit_code == 2);
    CHECK(cells.err.find("the machine's array computes floats, which are not shown\n") != std::string::npos);
}

TEST_CASE("Beside a tensor core, a GPU has its peak in half precision, and a CPU in fp32",
          "[system][tensor]") {
    const std::string run =
        "mnist_cnn --machine tpu_v2_1core --limit 4 --batch 4 --timing-only --baseline v100 t4 "
        "xeon_gold_6154_18_cores";
    const Json report = report_of(run);
    const Json& comparison = report.at("comparison");
    REQUIRE(comparison.size() == 3);
    // Two operations a multiply-accumulate, on a die with this peak.
    double macs = 0.0;
    for (const auto& layer : report.at("layers")) macs += layer.value("macs_per_inference", 0.0);
    const std::vector<std::pair<std::string, double>> peaks{
        {"fp16", 125e12}, {"fp16", 65e12}, {"fp32", 3.46e12}};
    for (std::size_t i = 0; i < peaks.size(); ++i) {
        const Json& each = comparison[i];
        CHECK(each.at("precision") == peaks[i].first);
        CHECK(each.at("estimate") == "upper bound: " + peaks[i].first + " roofline of one die");
        CHECK(each.at("roofline").at("peak_tops") == Approx(peaks[i].second / 1e12));
        CHECK(each.at("inferences_per_second") <= Approx(peaks[i].second / (2 * macs)));
        CHECK(each.at("int8").at("speedup").is_null());
        CHECK(each.at("performance_per_watt").at("total") > 0.0);
        CHECK(each.at("performance_per_watt").at("incremental") > 0.0);
    }
    // A speedup's share of the servers' watts: 230 W a core and 437.5 W a V100, 140 W and 300 W without
    // hosts.
    const Json& expected = comparison[0].at("expected");
    const double speedup = expected.at("speedup");
    CHECK(expected.at("performance_per_watt").at("total") == Approx(speedup / 230 * 437.5));
    CHECK(expected.at("performance_per_watt").at("incremental") == Approx(speedup / 140 * 300));
    const Json& band = expected.at("band").at("performance_per_watt").at("total");
    CHECK(band.at("least") == Approx(speedup / 230 * 437.5 / 1.557));
    CHECK(band.at("most") == Approx(speedup / 230 * 437.5 / 0.746));
    // More passes compute what half precision does not.
    const Json exact = report_of(run + " --set machine.matrix_unit.precision=highest");
    CHECK(exact.at("comparison")[0].at("precision") == "fp32");
}

/// docs/energy.md, A core of the Cloud TPU.
TEST_CASE("A tensor core's joules are those of its counted events, and of an idle core", "[system][tensor]") {
    const Json report = report_of(
        "mnist_cnn --machine tpu_v2_1core --limit 8 --batch 8 --timing-only --set "
        "'machine.tensor_energy={\"process_nm\": 16, \"host_link_pj_per_byte\": 15.44, \"mac_pj\": 1, "
        "\"vector_operation_pj\": 3, \"vector_memory_pj_per_byte\": 5, \"hbm_pj_per_byte\": 7, "
        "\"instruction_buffer_pj_per_byte\": 11}'");
    const Json& units = report.at("units");
    const auto count = [&](const char* unit, const char* counter) {
        return units.at(unit).at(counter).get<double>();
    };
    const Json& by_unit = report.at("energy").at("by_unit");
    const double seconds = report.at("seconds");
    CHECK(by_unit.at("chip_static") == Approx(26.5 * seconds));
    CHECK(by_unit.at("matrix_unit") ==
          Approx(1e-12 * report.at("matrix_unit").at("useful_macs").get<double>()));
    CHECK(by_unit.at("vector_unit") == Approx(3e-12 * 1024 * count("vector_unit", "operations")));
    CHECK(by_unit.at("vector_memory") ==
          Approx(5e-12 * (count("vector_memory", "read_bytes") + count("vector_memory", "written_bytes"))));
    CHECK(by_unit.at("hbm") == Approx(7e-12 * (count("hbm", "read_bytes") + count("hbm", "written_bytes"))));
    const double instructions = count("host_interface", "instruction_bytes");
    CHECK(by_unit.at("host_interface") ==
          Approx(15.44e-12 * (instructions + count("host_interface", "read_bytes") +
                              count("host_interface", "write_bytes"))));
    CHECK(by_unit.at("sequencer") == Approx(22e-12 * instructions));
    double joules = 0.0;
    for (const auto& [unit, part] : by_unit.items()) joules += part.get<double>();
    CHECK(report.at("energy").at("joules") == Approx(joules));
    CHECK(report.at("energy").at("watts") == Approx(joules / seconds));
    CHECK(report.at("energy").at("die_watts") ==
          Approx((joules - by_unit.at("hbm").get<double>()) / seconds));
    const std::string note = report.at("energy").at("notes").at(0);
    CHECK(note.find("cross lane unit") != std::string::npos);
    CHECK(note.find("vector unit") == std::string::npos);
    double of_layers = 0.0;
    for (const Json& layer : report.at("layers")) {
        of_layers += layer.at("energy").at("by_unit").at("matrix_unit").get<double>();
    }
    CHECK(of_layers == Approx(by_unit.at("matrix_unit").get<double>()));
    CHECK(report.at("area").at("mm2") == Approx(312.5));
}

TEST_CASE("The text of several cores has when each ended, and its classes of cycles", "[system][tensor]") {
    const std::string run = "mnist_cnn --machine tpu_v2_8 --limit 27 --batch 16 --timing-only ";
    const Json report = report_of(run);
    CHECK(report.at("energy").at("of") == "cores and high-bandwidth memory");
    const Outcome text = sim("run " + run + "--show cores");
    INFO(text.out);
    CHECK(text.exit_code == 0);
    CHECK(text.out.find("ended at  active   stall   shift   other\n") != std::string::npos);
    std::size_t lines = 0;
    for (const Json& part : report.at("parts")) {
        if (part.at("cycles").is_null()) continue;
        ++lines;
        const std::size_t others = part.at("names").size() - 1;
        const std::string names = part.at("names").at(0).get<std::string>() +
                                  (others > 0 ? " and " + std::to_string(others) + " more" : "");
        const std::size_t begin = text.out.find("\n  " + names + " ");
        REQUIRE(begin != std::string::npos);
        std::istringstream line(text.out.substr(begin + 3 + names.size()));
        std::string ended;
        line >> ended;
        std::erase(ended, ',');
        CHECK(ended == std::to_string(part.at("cycles").get<std::uint64_t>()));
        const Json& unit = part.at("units").at("matrix_unit");
        for (const char* const each :
             {"active_cycles", "weight_stall_cycles", "weight_shift_cycles", "non_matrix_cycles"}) {
            double percent = -1.0;
            line >> percent;
            line.ignore(2);
            CHECK(percent == Approx(100.0 * unit.at(each).get<double>() / report.at("cycles").get<double>())
                                 .margin(0.051));
        }
    }
    CHECK(lines > 0);
}

TEST_CASE("Energy and area of a tensor core are in text, windows and studies", "[system][tensor]") {
    const std::string run = "run mnist_cnn --machine tpu_v2_1core --limit 8 --batch 8 --timing-only ";
    const Outcome text = sim(run + "--show energy,area");
    CHECK(text.exit_code == 0);
    for (const char* const words : {"core and high-bandwidth memory", "not published, and left out",
                                    "vector memory", "(io: links between chips. other: vector unit"}) {
        INFO(text.out);
        CHECK(text.out.find(words) != std::string::npos);
    }
    const Json report =
        report_of("mnist_cnn --machine tpu_v2_1core --limit 8 --batch 8 --timing-only --power-windows 5");
    CHECK(report.at("energy").at("of") == "core and high-bandwidth memory");
    const Json& power = report.at("energy").at("power_over_time");
    double joules = 0.0;
    for (const auto& [unit, watts] : power.at("watts").items()) {
        REQUIRE(watts.size() == 5);
        for (std::size_t i = 0; i < watts.size(); ++i) {
            const std::uint64_t window = power.at("window_cycles");
            const std::uint64_t cycles = report.at("cycles");
            const std::uint64_t length = std::min(window, cycles - i * window);
            joules += watts[i].get<double>() * static_cast<double>(length) / 700e6;
        }
    }
    CHECK(joules == Approx(report.at("energy").at("joules").get<double>()));
    // A quicker clock than its voltage allows has cycles, and no energy.
    const Json quick = report_of(
        "mnist_cnn --machine tpu_v2_1core --limit 8 --batch 8 --timing-only --set machine.clock_mhz=1400");
    CHECK(quick.at("energy").at("joules").is_null());
}
