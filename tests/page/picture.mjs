// The picture of a page in the README: `node tests/page/picture.mjs results/report.html docs/images/report.png`, with
// SYSTOLE_NODE_MODULES=$PWD/build/dev/tests/page/packages/node_modules, as in the tests.
import { launch, open } from './browser.mjs';

const [, , page, picture] = process.argv;
const browser = await launch();
const shown = await open(browser, page, { width: 1100 });
const { y, height } = await shown.locator('#why').boundingBox();
const margin = 14;
await shown.screenshot({
    path: picture, fullPage: true, clip: { x: 0, y: 0, width: 1100, height: Math.ceil(y + height + margin) },
});
await shown.leave();
await browser.close();
