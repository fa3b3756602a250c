"""Keeps pages as Scrapy's HTTP cache does. argv: storage (filesystem, filesystem-gzip, dbm), folder; stdin: paths and URLs, by tabs."""

import sys

import scrapy
from scrapy.extensions.httpcache import DbmCacheStorage, FilesystemCacheStorage
from scrapy.http import HtmlResponse, Request
from scrapy.settings import Settings
from scrapy.spiders import Spider
from scrapy.utils.test import get_crawler

storage_name, folder = sys.argv[1:]
settings = Settings({"HTTPCACHE_DIR": folder, "HTTPCACHE_GZIP": storage_name.endswith("gzip")})
storage = DbmCacheStorage(settings) if storage_name == "dbm" else FilesystemCacheStorage(settings)
spider = Spider(name="bench")
spider.crawler = get_crawler(settings_dict={"REQUEST_FINGERPRINTER_IMPLEMENTATION": "2.7"})
headers = {
    "Server": "nginx/1.22.1",
    "Date": "Mon, 30 Nov 2026 12:00:00 GMT",
    "Content-Type": "text/html",
    "Last-Modified": "Mon, 30 Nov 2020 12:00:00 GMT",
    "Etag": '"5fc4e0c0-7000"',
    "Accept-Ranges": "bytes",
}
storage.open_spider(spider)
for line in sys.stdin:
    path, url = line.rstrip("\n").split("\t")
    with open(path, "rb") as page:
        body = page.read()
    request = Request(url)
    storage.store_response(spider, request, HtmlResponse(url, headers=headers, body=body, request=request))
storage.close_spider(spider)
print("Scrapy " + scrapy.__version__)
