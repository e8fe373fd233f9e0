// What the explore view uses of Apache ECharts, and no more.
import { init, use } from 'echarts/core'
import { BarChart, BoxplotChart, HeatmapChart, LineChart, ScatterChart } from 'echarts/charts'
import {
  AriaComponent, DataZoomInsideComponent, DatasetComponent, GridComponent, LegendPlainComponent,
  MarkLineComponent, TooltipComponent, VisualMapPiecewiseComponent,
} from 'echarts/components'
import { SVGRenderer } from 'echarts/renderers'

use([
  BarChart, BoxplotChart, HeatmapChart, LineChart, ScatterChart,
  AriaComponent, DataZoomInsideComponent, DatasetComponent, GridComponent, LegendPlainComponent,
  MarkLineComponent, TooltipComponent, VisualMapPiecewiseComponent,
  SVGRenderer,
])
globalThis.echarts = { init }
