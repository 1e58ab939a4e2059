#include "sim/study/validate/published.h"

#include <catch2/catch.hpp>
#include <fstream>
#include <nlohmann/json.hpp>

#include "hw/machine/config_error.h"
#include "hw/machine/config_reader.h"
#include "tests/unit/sim/study/validate/shipped.h"

namespace systole::validate {
namespace {

nlohmann::json shipped_json() {
    return machine::read_json_object(project / "configs/published/tpu_v1.json");
}

TEST_CASE("The shipped published figures are read", "[sim][validate]") {
    const Published read = shipped_figures();
    CHECK(read.at("table_3.useful_macs.CNN0") == 78.2);
    CHECK(read.at("table_3.weight_stall.mean") == 43);
    CHECK(read.table_6(TpuOverGpu)[MLP1] == 60.0);
    CHECK(read.at("figure_9.incremental_wm.TPU'/GPU") == 68);
    CHECK(read.figure_11(MatrixPlus)[4] == 0.75);
    CHECK(read.count("table_4.tpu.at_maximum.batch") == 250);
    CHECK(read.at("table_4.gpu.within_limit.p99_ms") == 6.7);
    CHECK(read.at("figure_6.tera_ops.LSTM0") == 1.1);
    CHECK(read.figure_10(GpuWithHostWatts)[10] == 151);
}

TEST_CASE("An error in published figures is one line", "[sim][validate]") {
    nlohmann::json object = shipped_json();
    const auto message = [&] {
        try {
            read_published(object, "p.json");
        } catch (const machine::ConfigError& error) {
            return std::string(error.what());
        }
        return std::string("nothing thrown");
    };
    SECTION("a workload is missing") {
        object["table_8"]["unified_buffer_mib"].erase("CNN1");
        CHECK(message() == "p.json: table_8.unified_buffer_mib.CNN1 is missing; it is needed");
    }
    SECTION("a table is missing") {
        object.erase("table_7");
        CHECK(message() == "p.json: table_7 is missing; it is needed");
    }
    SECTION("an unknown key") {
        object["table_3"]["array_activ"] = 1;
        CHECK(message() ==
              "p.json: table_3.array_activ is 1; it is not a known key; did you mean \"array_active\"?");
    }
    SECTION("no source") {
        object["figure_9"].erase("source");
        CHECK(message() == "p.json: figure_9.source is missing; it is needed");
    }
    SECTION("an unknown confidence") {
        object["figure_9"]["confidence"] = "sure";
        CHECK(message() ==
              "p.json: figure_9.confidence is \"sure\"; it must be one of \"seen\", \"digitized\", "
              "\"derived\"");
    }
    SECTION("no cycles follow from row 2") {
        object["table_3"]["useful_macs"]["MLP0"] = 0;
        CHECK(message() ==
              "p.json: table_3.useful_macs.MLP0 is 0; it must be a number from 1e-06 to 1000000000000");
    }
    SECTION("a batch of half an inference") {
        object["table_1"]["batch"]["CNN0"] = 7.5;
        CHECK(message() == "p.json: table_1.batch.CNN0 is 7.5; it must be a whole number from 1 to 1000000");
    }
    SECTION("a ratio of nothing") {
        object["table_6"]["tpu_over_cpu"]["CNN0"] = 0;
        CHECK(message() ==
              "p.json: table_6.tpu_over_cpu.CNN0 is 0; it must be a number from 1e-06 to 1000000000000");
    }
    SECTION("half a die") {
        object["table_2"]["tpu_dies"] = 3.5;
        CHECK(message() == "p.json: table_2.tpu_dies is 3.5; it must be a whole number from 1 to 65536");
    }
    SECTION("half a layer") {
        object["table_1"]["vector"]["LSTM0"] = 33.5;
        CHECK(message() == "p.json: table_1.vector.LSTM0 is 33.5; it must be a whole number from 0 to 10000");
    }
    SECTION("a point of a figure is not there") {
        object["figure_6_places"]["macs_per_weight_byte"].erase("CNN0");
        CHECK(message() == "p.json: figure_6_places.macs_per_weight_byte.CNN0 is missing; it is needed");
    }
    SECTION("a label that is no number") {
        object["figure_7"]["tera_ops"]["LSTM1"] = "0.7";
        CHECK(message() ==
              "p.json: figure_7.tera_ops.LSTM1 is \"0.7\"; it must be a number from 1e-06 to 1000000000000");
    }
    SECTION("a batch of none") {
        object["table_4"]["cpu"]["within_limit"]["batch"] = 0;
        CHECK(message() ==
              "p.json: table_4.cpu.within_limit.batch is 0; it must be a whole number from 1 to 1000000");
    }
    SECTION("more than 100 per cent") {
        object["figure_10_text"]["lstm1_percent_at_tenth_load"]["GPU"] = 178;
        CHECK(message() ==
              "p.json: figure_10_text.lstm1_percent_at_tenth_load.GPU is 178; it must be a number from 0 to "
              "100");
    }
    SECTION("another schema") {
        object["schema"] = "sim.machine/1";
        CHECK(message() == "p.json: schema is \"sim.machine/1\"; it must be \"sim.published/1\"");
    }
}

void check_table_1(const nlohmann::json& reference, const Published& read) {
    const auto table_1 = [&](const std::string& key) { return read.workloads("table_1." + key); };
    const auto fully_connected = table_1("fully_connected");
    const auto convolution = table_1("convolution");
    const auto vector = table_1("vector");
    const auto pool = table_1("pool");
    for (std::size_t i = 0; i < workload_count; ++i) {
        INFO(workload_names[i]);
        // LOC, FC, Conv, Vector, Pool, Total, nonlinear, weights, MACs a weight byte, batch.
        const nlohmann::json& row = reference.at(std::string(workload_names[i]));
        CHECK(fully_connected[i] == row[1].get<unsigned>());
        CHECK(convolution[i] == row[2].get<unsigned>());
        CHECK(vector[i] == row[3].get<unsigned>());
        CHECK(pool[i] == row[4].get<unsigned>());
        CHECK(fully_connected[i] + convolution[i] + vector[i] + pool[i] == row[5].get<unsigned>());
        CHECK(table_1("weights_millions")[i] * 1e6 == row[7].get<double>());
        CHECK(table_1("macs_per_weight_byte")[i] == row[8].get<double>());
        CHECK(table_1("batch")[i] == row[9].get<unsigned>());
    }
}

void check_table_4(const nlohmann::json& reference, const Published& read) {
    std::size_t line = 0;
    for (const std::string processor : {"cpu", "gpu", "tpu"}) {
        for (const std::string row : {"within_limit", "at_maximum"}) {
            INFO(reference[line]);
            const std::string path = "table_4." + processor + "." + row;
            CHECK(read.count(path + ".batch") == reference[line][1].get<unsigned>());
            CHECK(read.at(path + ".p99_ms") == reference[line][2].get<double>());
            CHECK(read.at(path + ".inferences_per_second") == reference[line][3].get<double>());
            CHECK(read.at(path + ".percent_of_maximum") == reference[line][4].get<double>());
            ++line;
        }
    }
    CHECK(line == reference.size());
}

void check_table_2(const nlohmann::json& reference, const Published& read) {
    CHECK(read.at("table_2.clock_mhz") == reference.at("TPU").at("MHz").get<double>());
    const std::array<std::pair<const char*, const char*>, 3> servers{
        {{"Haswell E5-2699 v3", "cpu"}, {"NVIDIA K80 (2 dies/card)", "gpu"}, {"TPU", "tpu"}}};
    for (const auto& [name, key] : servers) {
        INFO(name);
        const nlohmann::json& row = reference.at(name);
        const std::string server = std::string("table_2.") + key + "_server_";
        CHECK(read.at(server + "tdp_watts") == row.at("server_TDP_W").get<double>());
        CHECK(read.at(server + "idle_watts") == row.at("server_idle_W").get<double>());
        CHECK(read.at(server + "busy_watts") == row.at("server_busy_W").get<double>());
    }
}

/// What the prose of the article and its figures of the chip say.
void check_architecture(const nlohmann::json& reference, const Published& read) {
    std::size_t found = 0;
    const auto check = [&](const nlohmann::json& entry, const char* name, std::string_view path) {
        if (entry.at("name") != name) return;
        ++found;
        INFO(name);
        CHECK(entry.at("value").get<double>() == read.at(path));
    };
    for (const nlohmann::json& entry : reference.at("architecture")) {
        check(entry, "matrix_unit_rows", "section_2.array");
        check(entry, "host_if_to_ub_bw", "figure_1.host_link_gib_per_s");
    }
    CHECK(found == 2);
    CHECK(reference.at("isa").at("cpi_typical")[0].get<double>() ==
          read.at("section_2.cycles_an_instruction_from"));
    CHECK(reference.at("isa").at("cpi_typical")[1].get<double>() ==
          read.at("section_2.cycles_an_instruction_to"));
}

/// "~79" is read off the figure.
double about(const nlohmann::json& value) {
    return value.is_string() ? std::stod(value.get<std::string>().substr(1)) : value.get<double>();
}

void check_figure_10(const nlohmann::json& reference, const Published& read) {
    const std::array<const char*, power_curve_keys.size()> names{"TPU", "TPU+Haswell/2", "K80",
                                                                 "K80+Haswell/4", "Haswell"};
    for (std::size_t curve = 0; curve < names.size(); ++curve) {
        INFO(names[curve]);
        for (std::size_t i = 0; i < loads.size(); ++i) {
            CHECK(about(reference.at(names[curve])[i]) == read.figure_10(static_cast<PowerCurve>(curve))[i]);
        }
    }
    const nlohmann::json& text = reference.at("text");
    const std::array<const char*, 3> processors{"TPU", "Haswell", "K80"};
    const std::array<std::string_view, 3> keys{"TPU", "CPU", "GPU"};
    const auto cnn0 = read.row("figure_10_text.cnn0_percent_at_tenth_load", keys);
    const auto lstm1 = read.row("figure_10_text.lstm1_percent_at_tenth_load", keys);
    for (std::size_t i = 0; i < processors.size(); ++i) {
        CHECK(100.0 * text.at("cnn0_10pct_over_100pct").at(processors[i]).get<double>() == Approx(cnn0[i]));
        CHECK(100.0 * text.at("lstm1_10pct_over_100pct").at(processors[i]).get<double>() == Approx(lstm1[i]));
    }
    const nlohmann::json& host = text.at("host_cpu_at_100pct_load_pct_of_full");
    CHECK(host.at("with_TPU").get<double>() == read.at("figure_10_text.host_percent_with_tpus"));
    CHECK(host.at("with_GPU").get<double>() == read.at("figure_10_text.host_percent_with_gpus"));
}

/// Runs read a baseline's watts and dies without this file.
TEST_CASE("Table 2 agrees with the baselines", "[sim][validate]") {
    const Published read = shipped_figures();
    const baselines::Baseline cpu = shipped_cpu();
    const baselines::Baseline gpu = shipped_gpu();
    CHECK(read.at("table_2.cpu_dies") == cpu.server.dies);
    CHECK(read.at("table_2.gpu_dies") == gpu.server.dies);
    CHECK(read.at("table_2.cpu_server_tdp_watts") == cpu.server.tdp_watts);
    CHECK(read.at("table_2.gpu_server_tdp_watts") == gpu.server.tdp_watts);
    CHECK(read.at("table_2.cpu_server_tdp_watts") == gpu.server.host_tdp_watts);
}

/// The project ships what it compares with; where the collected facts lie beside it, the two are held
/// together.
TEST_CASE("The shipped figures are those of the reference", "[sim][validate]") {
    if (!std::filesystem::exists(reference_file)) {
        WARN("SKIPPED: " << reference_file << " is not there");
        return;
    }
    std::ifstream file(reference_file);
    const nlohmann::json reference = nlohmann::json::parse(file);
    const Published read = shipped_figures();
    const auto check = [](const nlohmann::json& theirs, const ByWorkload<double>& ours) {
        for (std::size_t i = 0; i < workload_count; ++i) {
            INFO(workload_names[i]);
            CHECK(theirs.at(std::string(workload_names[i])).get<double>() == ours[i]);
        }
    };
    check(reference["table7_model_vs_counters_pct"], read.workloads("table_7.model_error_percent"));
    check(reference["table8_max_unified_buffer_MiB"], read.workloads("table_8.unified_buffer_mib"));
    check(reference["table5_host_interaction_pct_of_tpu_time"],
          read.workloads("table_5.host_percent_of_tpu_time"));
    std::size_t row = 0;
    for (const auto& [name, values] : reference["table3"]["rows"].items()) {
        INFO(name);
        for (std::size_t i = 0; i < workload_count; ++i) {
            CHECK(values.at(std::string(workload_names[i])).get<double>() == read.table_3(row)[i]);
        }
        CHECK(reference["table3"]["printed_mean"][name.substr(0, 1)].get<double>() ==
              read.at("table_3." + std::string(table_3_rows[row].key) + ".mean"));
        ++row;
    }
    const nlohmann::json& table_6 = reference["table6_relative_perf_per_die_vs_cpu"];
    const std::array<const char*, 3> rows{"GPU", "TPU", "Ratio"};
    for (std::size_t ratio = 0; ratio < rows.size(); ++ratio) {
        const nlohmann::json& values = table_6[rows[ratio]];
        for (std::size_t i = 0; i < workload_count; ++i) {
            CHECK(values[i].get<double>() == read.table_6(static_cast<Ratio>(ratio))[i]);
        }
        CHECK(values[6].get<double>() == read.row("table_6.geometric_mean", ratio_names)[ratio]);
        CHECK(values[7].get<double>() == read.row("table_6.weighted_mean", ratio_names)[ratio]);
    }
    check_table_1(reference["table1"], read);
    check_table_2(reference["table2"], read);
    check_architecture(reference, read);
    CHECK(reference["floorplan_percent_of_die"]["groups_arxiv_caption"]["data_buffers"].get<double>() ==
          read.at("figure_2.data_buffers_percent"));
    CHECK(reference["cnn1_remarks"]["weight_wait_pct"].get<double>() ==
          read.at("table_3_text.cnn1_weight_wait_percent"));
    check_table_4(reference["table4_mlp0_latency"]["rows"], read);
    const nlohmann::json& roofline = reference["roofline"];
    check(roofline["fig6_haswell"]["tops"], read.workloads("figure_6.tera_ops"));
    check(roofline["fig6_haswell"]["x"], read.workloads("figure_6_places.macs_per_weight_byte"));
    check(roofline["fig7_k80"]["tops"], read.workloads("figure_7.tera_ops"));
    check(roofline["fig7_k80"]["x"], read.workloads("figure_7_places.macs_per_weight_byte"));
    check_figure_10(reference["fig10_watts_per_die_cnn0"], read);
    const nlohmann::json& figure_11 = reference["fig11_sensitivity_weighted_mean"];
    for (std::size_t curve = 0; curve < curve_names.size(); ++curve) {
        for (std::size_t i = 0; i < scales.size(); ++i) {
            CHECK(figure_11[std::string(curve_names[curve])][i].get<double>() ==
                  read.figure_11(static_cast<Curve>(curve))[i]);
        }
    }
    const nlohmann::json& figure_9 = reference["fig9_perf_per_watt"];
    for (std::size_t i = 0; i < server_ratio_names.size(); ++i) {
        CHECK(figure_9["total_GM"][i].get<double>() == read.row("figure_9.total_gm", server_ratio_names)[i]);
        CHECK(figure_9["total_WM"][i].get<double>() == read.row("figure_9.total_wm", server_ratio_names)[i]);
        CHECK(figure_9["incremental_GM"][i].get<double>() ==
              read.row("figure_9.incremental_gm", server_ratio_names)[i]);
        CHECK(figure_9["incremental_WM"][i].get<double>() ==
              read.row("figure_9.incremental_wm", server_ratio_names)[i]);
    }
}

}  // namespace
}  // namespace systole::validate
