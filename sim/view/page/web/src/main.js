// The page: one report, several beside each other, or a study whose points have reports of their own.
import 'tabulator-tables/dist/css/tabulator_simple.css';
import './style.css';
import { h } from './dom.js';
import { showReports } from './report_page.js';
import { reportOfPoint } from './study/point_reports.js';
import { showStudy } from './study/study_page.js';

const dataOf = (id) => JSON.parse(document.getElementById(id).textContent);

const page = document.getElementById('page');
const study = dataOf('study-data');
const [, point] = /^#point-(\d+)$/.exec(window.location.hash) ?? [];

if (study === null) {
    showReports(page, dataOf('reports'), dataOf('side-by-side'));
} else if (point === undefined) {
    showStudy(page, study);
} else {
    reportOfPoint(point).then(
        (report) => showReports(page, [{ name: `point ${point}`, report }], null),
        () => page.append(h('main', null, h('p', null, `This page has no report of point ${point}: `
            + `sim sweep ... --report ${point} writes it.`))));
}
