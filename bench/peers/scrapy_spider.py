"""Scrapy's CrawlSpider over <a href>; its settings come from the bench on the command line."""

import json
import os
from urllib.parse import urlsplit

from scrapy.linkextractors import LinkExtractor
from scrapy.spiders import CrawlSpider, Rule


class BenchSpider(CrawlSpider):
    name = "bench"
    start_urls = json.loads(os.environ["BENCH_SEEDS"])
    allowed_domains = sorted({urlsplit(url).hostname for url in start_urls})
    rules = [Rule(LinkExtractor(tags=("a",), attrs=("href",)), follow=True)]
