// A picture of a page for the README: from its top to the end of a section, or from a section to another.
//
//   node tests/page/picture.mjs results/report.html docs/images/report.png why
//   node tests/page/picture.mjs results/study.html docs/images/study.png pareto lines
//
// with SYSTOLE_NODE_MODULES=$PWD/build/release/tests/page/packages/node_modules, as in the tests.
import { launch, open } from './browser.mjs';

const [, , page, picture, ...sections] = process.argv;
const browser = await launch();
const shown = await open(browser, page, { width: 1100 });
const margin = 14;
const { y, height } = await shown.locator(`section#${sections.at(-1)}`).boundingBox();
const top = sections.length > 1 ? (await shown.locator(`section#${sections[0]}`).boundingBox()).y - margin : 0;
await shown.screenshot({
    path: picture, fullPage: true, clip: { x: 0, y: top, width: 1100, height: Math.ceil(y + height + margin - top) },
});
await shown.leave();
await browser.close();
